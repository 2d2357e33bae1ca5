"""Conversations over HTTP: drafts that a form changes, and answers that come late."""

from threading import Thread
from typing import Any

import httpx
from server_case import (
    API,
    RECOMMEND,
    Server,
    ask,
    job_over,
)

from compass.chat.draft import Turn
from compass.server.routes.chats import title_of

pytest_plugins = ("server_fixtures",)


def begun(client: httpx.Client, engine: str) -> str:
    made = client.post(f"{API}/chats", json={"engine": engine})
    assert made.status_code == 201
    return f"{API}/chats/{made.json()['id']}"


def say(client: httpx.Client, chat: str, text: str, wait: float = 60) -> dict[str, Any]:
    said = client.post(f"{chat}/messages", params={"wait": wait}, json={"text": text})
    assert said.status_code == 200, said.text
    found: dict[str, Any] = said.json()
    return found


def test_a_form_changes_the_draft_and_what_is_missing_is_asked_for(
    person: httpx.Client, offered: str
) -> None:
    chat = begun(person, offered)
    draft = {"kind": "recommend", "ask": ["gpus"]}
    told = person.put(f"{chat}/draft", json=draft).json()
    assert told["question"] == ""
    assert told["reply"]["expecting"] is not None
    draft |= {"goals": {"runtime": {"kind": "extreme", "direction": "minimize"}}}
    told = person.put(f"{chat}/draft", json=draft).json()
    assert "gpus: ?" in told["question"]
    assert told["reply"]["query"] is not None
    bad = draft | {"where": ["gpus <"]}
    assert person.put(f"{chat}/draft", json=bad).status_code == 422
    assert person.get(chat).json() == told


def test_what_to_run_next_is_told_in_full(person: httpx.Client, offered: str) -> None:
    chat = begun(person, offered)
    say(person, chat, f"{RECOMMEND} chance 95% beyond")
    told = say(person, chat, "which 2 runs should I make next?")
    asked = {"question": told["question"], "runs": 2}
    found = person.post(f"{API}/engines/{offered}/run-next", json=asked).json()["run_next"]
    assert told["question"].endswith("chance 95% beyond")
    assert found
    for proposal in found:
        written = ", ".join(f"{name} = {value}" for name, value in proposal["config"].items())
        assert f"{written}: {proposal['why']}" in told["reply"]["text"]
    assert told["reply"]["expecting"] == "confirm"  # what was open still is
    assert person.get(chat).json() == told


def test_what_is_known_is_looked_up_and_the_question_stays(
    person: httpx.Client, offered: str
) -> None:
    chat = begun(person, offered)
    before = say(person, chat, RECOMMEND)
    path = f"{API}/engines/{offered}/findings"
    for text, inquiry in (
        ("show row 12", {"topic": "row", "row": 12}),
        ("compare rows 3 and 7", {"topic": "compare", "places": [3, 7], "rows": True}),
        ("which knobs matter most for power?", {"topic": "importance", "outcome": "power"}),
        ("how accurate is the power prediction?", {"topic": "certainty", "outcome": "power"}),
        (
            "which run had the lowest power so far?",
            {"topic": "best-run", "outcome": "power", "direction": "minimize"},
        ),
    ):
        told = say(person, chat, text)
        found = person.post(path, json=inquiry)
        assert found.status_code == 200, found.text
        assert told["reply"]["findings"] == found.json()
        assert told["reply"]["text"].startswith(f"{found.json()['text']}\n")
        assert told["reply"]["query"] == before["reply"]["query"]
        assert told["conversation"]["draft"] == before["conversation"]["draft"]
        assert told["question"] == before["question"]
    missing = say(person, chat, "show row 99999")
    assert missing["reply"]["text"].startswith("There is no row 99999. Rows are numbered 0 to ")
    assert missing["reply"]["query"] == before["reply"]["query"]
    assert person.get(chat).json() == missing


def test_findings_that_cannot_be_are_refused(person: httpx.Client, offered: str) -> None:
    path = f"{API}/engines/{offered}/findings"
    for inquiry in (
        {"topic": "row", "row": 99999},
        {"topic": "row"},
        {"topic": "compare", "places": [1]},
        {"topic": "best-run", "outcome": "walltime"},
        {"topic": "best-run", "where": ["nodes <"]},
        {"topic": "nonsense"},
    ):
        refused = person.post(path, json=inquiry)
        assert refused.status_code == 422, (inquiry, refused.text)
        assert refused.json()["hint"], inquiry


def test_a_question_that_is_being_answered_goes_on_while_the_next_is_written(
    person: httpx.Client, offered: str
) -> None:
    chat = begun(person, offered)
    say(person, chat, "recommend gpus to minimize runtime where nodes <= 3")
    asked = say(person, chat, "yes", wait=0)
    job = asked["job"]
    assert job["kind"] == "ask"
    draft = asked["conversation"]["draft"] | {"count": 2}
    edited = person.put(f"{chat}/draft", json=draft).json()
    assert edited["job"]["id"] == job["id"]
    answer = job_over(person, job["id"])["answer"]
    told = person.post(f"{chat}/answers", json={"answer": answer}).json()
    assert (told["answer"], told["job"]) == (answer, None)
    assert person.post(f"{chat}/answers", json={"answer": answer}).json() == told
    assert told["question"] == edited["question"]
    assert "top 2" in told["question"]
    done = say(person, chat, "yes")
    assert done["answer"] != answer
    found = person.get(f"{API}/answers/{done['answer']}").json()["answer"]
    assert len(found["suggestions"]) == 2


def test_a_job_that_was_cancelled_is_forgotten(person: httpx.Client, offered: str) -> None:
    chat = begun(person, offered)
    say(person, chat, "recommend gpus to minimize runtime where nodes <= 2")
    asked = say(person, chat, "yes", wait=0)
    person.delete(f"{API}/jobs/{asked['job']['id']}")
    state = job_over(person, asked["job"]["id"])["state"]
    edited = person.put(f"{chat}/draft", json=asked["conversation"]["draft"]).json()
    assert (edited["job"] is None) == (state == "cancelled")


def test_a_message_has_a_length(person: httpx.Client, offered: str) -> None:
    chat = begun(person, offered)
    say(person, chat, "x" * 2000)
    refused = person.post(f"{chat}/messages", json={"text": "x" * 2001})
    assert refused.status_code == 422
    assert "2000" in refused.json()["error"]


def test_conversations_are_listed_the_newest_first(person: httpx.Client, offered: str) -> None:
    first, second = begun(person, offered), begun(person, offered)
    say(person, first, "minimize runtime")
    listed = person.get(f"{API}/chats", params={"count": 2}).json()
    assert [f"{API}/chats/{one['id']}" for one in listed] == [second, first]
    whole = person.get(first).json()
    assert listed[1] == {
        **{name: whole[name] for name in ("id", "engine", "created", "answer")},
        "title": "minimize runtime",
        "messages": 1,
    }
    assert (listed[0]["title"], listed[0]["messages"]) == ("", 0)


def test_whoever_looks_while_a_question_is_asked_finds_its_job(
    server: Server, person: httpx.Client, offered: str
) -> None:
    chat = begun(person, offered)
    say(person, chat, "recommend gpus to minimize runtime where nodes <= 5")
    asking = Thread(target=say, args=(person, chat, "yes"), kwargs={"wait": 30})
    asking.start()
    with server.client(person.headers["Compass-Workspace"]) as other:
        seen = [other.get(chat).json()]
        while asking.is_alive():
            seen.append(other.get(chat).json())
    asking.join()
    confirmed = [one for one in seen if one["reply"]["run"] is not None]
    assert [one for one in confirmed if one["job"] is None] == []
    assert person.get(chat).json()["answer"] is not None


def test_a_conversation_is_called_by_what_was_said_first_or_by_its_question() -> None:
    def called(*said: str) -> str:
        who = ("compass", "person")
        turns = (Turn(who=who[n % 2], text=text) for n, text in enumerate(said))
        return title_of(tuple(turns))

    question = "Recommend a configuration X = {a: ?} to achieve Y = {b: minimize}."
    assert called("Hello.", "first", "And?", "second") == "first"
    assert called("Hello.", "(changed in the form)", "And?", "Yes ") == ""
    form = ("Hello.", "(changed in the form)", f"Confirm:\n{question}", "yes", "Use a = 1.")
    assert called(*form) == question
    assert called(*form, "why?") == "why?"


def test_a_chat_whose_answer_was_deleted_goes_on(stranger: httpx.Client, offered: str) -> None:
    chat = stranger.post(f"{API}/chats", json={"engine": offered}).json()["id"]

    def say(text: str) -> httpx.Response:
        return stranger.post(f"{API}/chats/{chat}/messages", json={"text": text})

    say(RECOMMEND)
    answer = say("yes").json()["answer"]
    assert stranger.delete(f"{API}/answers/{answer}").status_code == 204
    assert say("why?").status_code == 200
    assert say("start over").status_code == 200


def test_a_chat_takes_no_answer_of_another_engine(
    person: httpx.Client, offered: str, engine_id: str
) -> None:
    chat = person.post(f"{API}/chats", json={"engine": offered}).json()["id"]
    of = {engine: ask(person, engine, RECOMMEND).json()["id"] for engine in (offered, engine_id)}
    path = f"{API}/chats/{chat}/answers"
    assert person.post(path, json={"answer": of[engine_id]}).status_code == 422
    assert person.post(path, json={"answer": of[offered]}).json()["answer"] == of[offered]
