import os

from voice.surroundings import MOST_NAMES, branch_of, names_of_folder


def test_the_branch_and_the_newest_files_are_names(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/HEAD").write_text("ref: refs/heads/feature/login-page\n")
    (tmp_path / "src/deep").mkdir(parents=True)
    for age, name in enumerate(["src/newest.py", "README.md", "oldest.toml", "src/deep/unseen.py", ".env"]):
        (tmp_path / name).write_text("")
        os.utime(tmp_path / name, (1_000 - age, 1_000 - age))
    assert names_of_folder(tmp_path) == ("feature/login-page", "newest.py", "README.md", "oldest.toml")


def test_a_worktree_is_followed_and_a_head_without_a_branch_is_none(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real/HEAD").write_text("ref: refs/heads/main")
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/.git").write_text("gitdir: ../real\n")
    assert branch_of(tmp_path / "tree") == "main"
    (tmp_path / "real/HEAD").write_text("93e7d55a0c")
    assert branch_of(tmp_path / "tree") is None
    (tmp_path / "real/HEAD").write_bytes(b"\xff\xfe")
    assert branch_of(tmp_path / "tree") is None


def test_a_folder_that_is_not_there_has_none_and_a_large_one_has_few(tmp_path):
    assert names_of_folder(tmp_path / "nowhere") == ()
    for number in range(500):
        (tmp_path / f"file_{number}").write_text("")
    assert len(names_of_folder(tmp_path)) == MOST_NAMES
