"""What differs between two versions of a config."""

from tests.present.site.books import config_freeze

from evalbook.derive.changes import SettingChange, config_change


def test_keys_that_were_set_changed_or_removed_are_named_and_the_rest_counted() -> None:
    before = config_freeze("v1", {"model": '"m"', "sampling.top_p": "1", "agent": '"a"'})
    after = config_freeze("v2", {"model": '"n"', "limits.cpu_s": "9", "agent": '"a"'})
    found = config_change(before, after)
    assert found.changes == (
        SettingChange("limits.cpu_s", None, "9"),
        SettingChange("model", '"m"', '"n"'),
        SettingChange("sampling.top_p", "1", None),
    )
    assert found.unchanged == 1


def test_a_file_that_changed_is_a_change_and_the_label_alone_is_none() -> None:
    def file(digit: str) -> tuple[dict[str, object], ...]:
        return ({"path": "prompt.md", "sha256": digit * 64, "size": 1},)

    before = config_freeze("v1", {"version": '"v1"'}, files=file("1"))
    after = config_freeze("v2", {"version": '"v2"'}, files=file("2"))
    assert config_change(before, after).changes == (
        SettingChange("file prompt.md", "1" * 64, "2" * 64),
    )
    assert config_change(before, before).changes == ()
