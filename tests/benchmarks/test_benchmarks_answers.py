"""Records of answers: what is left out of them, and that a difference is found."""

from benchmarks.answers.__main__ import differing, main, plain
from compass.domain.answer import Certificate, CertificateStatus


def test_every_difference_is_told_with_its_place():
    before = {"a": [1, {"b": 2}], "c": 3}
    after = {"a": [1, {"b": 4}], "d": 3}
    assert list(differing(before, after, ())) == [
        (("a", 1, "b"), 2, 4),
        (("c",), 3, "absent"),
        (("d",), "absent", 3),
    ]
    assert list(differing(before, before, ())) == []
    assert list(differing([1], [1, 2], ("x",))) == [(("x",), [1], [1, 2])]


def test_files_are_compared(tmp_path, capsys):
    one, other = tmp_path / "one.json", tmp_path / "other.json"
    one.write_text('{"q": {"y": 1}}')
    other.write_text('{"q": {"y": 2}}')
    assert main(["compare", str(one), str(one)]) == 0
    assert main(["compare", str(one), str(other)]) == 1
    assert "q / y" in capsys.readouterr().out


def test_what_differs_from_run_to_run_is_left_out():
    certificate = Certificate(status=CertificateStatus.OPTIMAL, reason="so it is")
    assert plain((certificate,))[0]["status"] == "optimal"
