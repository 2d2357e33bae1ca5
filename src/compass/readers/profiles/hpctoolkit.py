"""HPCToolkit databases: the folder that hpcprof writes, old (XML) and new (meta.db)."""

from pathlib import Path

from compass import registry
from compass.readers.profiles.base import Profile, ProfileReader


@registry.add("reader", "hpctoolkit")
class HpcToolkit(ProfileReader):
    """HPCToolkit databases: the folder with experiment.xml, or with meta.db and profile.db."""

    name = "hpctoolkit"

    def sniff(self, path: Path, head: bytes) -> bool:
        """The main file of a database."""
        del path
        return b"<HPCToolkitExperiment" in head or head.startswith(b"HPCTOOLKITmeta")

    def claims_folder(self, folder: Path) -> bool:
        """A folder that hpcprof wrote."""
        new = (folder / "meta.db").is_file() and (folder / "profile.db").is_file()
        return new or (folder / "experiment.xml").is_file()

    def profile(self, path: Path) -> Profile:
        """The run that a database describes."""
        folder = path if path.is_dir() else path.parent
        if path.name == "meta.db" or not (folder / "experiment.xml").is_file():
            from compass.readers.profiles.hpctoolkit_db import read_database

            return read_database(folder, self.options)
        from compass.readers.profiles.hpctoolkit_xml import read_experiment

        return read_experiment(folder, self.options)
