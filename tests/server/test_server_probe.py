from server_case import *
def test_it(person, data, engine_id, offered, server):
    a = ask(person, engine_id); print(a.status_code, a.text[:600])
    a = ask(person, engine_id, RECONFIGURE, run=5); print(a.status_code, a.text[:600])
    print(person.get(f"{API}/engines/{engine_id}").text)
    print([ (e["route"], e["ms"]) for e in server.events() if e["event"]=="request"])
