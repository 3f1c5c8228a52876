"""Settings: every switch of the web side and of the jobs, read once from WORKBENCH_* variables."""

from __future__ import annotations

import os
import secrets
from functools import lru_cache
from pathlib import Path
from typing import Self

from pydantic import Field, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

MEBIBYTE = 1 << 20
REPOSITORY = Path(__file__).resolve().parents[1]


class Settings(BaseSettings):
    model_config = SettingsConfigDict(env_prefix="WORKBENCH_", env_file=".env", extra="ignore", frozen=True)

    data_dir: Path = Field(Path("var"), description="Where the database, blobs, secret and broker socket live.")
    database_url: str = Field("", description="SQLAlchemy URL; empty: SQLite in WAL mode under data_dir.")
    broker_url: str = Field("", description="Redis-compatible broker; empty: the embedded one under data_dir.")
    base_url: str = Field(
        "http://127.0.0.1:8000", description="Address that people see; https turns on secure cookies."
    )
    secret_key: str = Field("", description="Signs cookies; empty: a random one kept in data_dir/secret_key.")

    runtimes: dict[str, Path] = Field(
        default_factory=dict,
        description='Interpreters of foreign code, as JSON {"torch": "/path/to/python"}; '
        "empty: every .runtimes/<name>/bin/python there is.",
    )
    allow_unsandboxed: bool = Field(False, description="Run foreign code without a sandbox; for trusted code only.")
    warm: bool = Field(True, description="Keep a warm fork server per runtime, so that evaluations start fast.")
    engine: str = Field(
        "", description='"module:function" in place of the judge; only heeded when engine_override is on (tests).'
    )
    engine_override: bool = Field(False, description="Heed `engine`; the tests set it, nobody else should.")

    evaluation_lease_seconds: float = Field(60.0, gt=0, description="An evaluation not beating this long is recovered.")
    evaluation_beat_seconds: float = Field(10.0, gt=0, description="How often a running evaluation beats.")
    evaluation_wall_seconds: int = Field(3600, gt=0, description="Longest that one evaluation may take.")
    attempts_max: int = Field(3, ge=1, description="Attempts before an evaluation is given up as failed.")
    resend_after_seconds: float = Field(30.0, gt=0, description="Queued this long without a claim: sent again.")
    sweep_every_seconds: float = Field(10.0, gt=0, description="How often the scheduler sweeps.")

    experiments_in_flight_max: int = Field(
        2, ge=1, description="Experiments of one reviewer that wait or run at a time."
    )
    experiment_seconds_max: int = Field(120, gt=0, description="Longest that one experiment may take.")
    experiment_call_seconds_max: float = Field(
        20.0, gt=0, description="Longest that one call in an experiment may take."
    )

    slots_per_subject: int = Field(2, ge=1, description="Reviews wanted of each subject.")
    slot_lease_minutes: float = Field(30.0, gt=0, description="How long a claimed item is held without a heartbeat.")
    held_items_max: int = Field(3, ge=1, description="Items that one reviewer may hold at a time.")

    bundle_bytes_max: int = Field(20 * MEBIBYTE, description="Largest uploaded bundle, packed or unpacked, in bytes.")
    bundle_files_max: int = Field(500, description="Most files in a bundle.")
    file_bytes_max: int = Field(5 * MEBIBYTE, description="Largest single source file, in bytes.")
    import_rows_max: int = Field(10_000, ge=1, description="Most submissions in one bulk upload.")
    import_bytes_max: int = Field(64 * MEBIBYTE, ge=1, description="Largest bulk upload, in bytes.")
    report_bytes_max: int = Field(2 * MEBIBYTE, description="Largest report, in bytes of JSON.")

    webhook_private_addresses: bool = Field(
        False, description="Let webhooks go to private addresses, such as this machine or the office network."
    )
    webhook_seconds_max: float = Field(15.0, gt=0, description="Longest that one webhook's receiver may take.")
    webhook_failing_days_max: float = Field(
        5.0, gt=0, description="A webhook that has failed this long is disabled, and admins are told."
    )
    webhook_kept_days: float = Field(30.0, gt=0, description="How long messages that were sent or given up are kept.")

    session_days: int = Field(14, ge=1, description="How long a sign-in lasts.")
    token_days: int = Field(90, ge=1, description="How long a new API token lasts when nothing else is asked.")
    sign_in_attempts_max: int = Field(
        8, ge=1, description="Refused sign-ins per login in the window; five times as many per address."
    )
    sign_in_window_minutes: int = Field(15, ge=1, description="The window in which refused sign-ins are counted.")

    web_processes: int = Field(0, ge=0, description="Web processes; 0: two where there are two cores, else one.")
    web_threads: int = Field(
        40, ge=1, description="Threads that serve requests, of all web processes together; the pool is sized by it."
    )
    demo: bool = Field(False, description="Seed demo people, tasks and submissions at start-up.")

    @model_validator(mode="after")
    def _fill_in(self) -> Self:
        data_dir = self.data_dir.absolute()
        _set(self, "data_dir", data_dir)
        _set(self, "database_url", self.database_url or f"sqlite:///{data_dir / 'workbench.db'}")
        _set(self, "broker_url", self.broker_url or f"redis+socket://{data_dir / 'broker' / 'broker.sock'}")
        _set(self, "web_processes", self.web_processes or min(2, os.cpu_count() or 1))
        _set(self, "runtimes", self.runtimes or _found_runtimes())
        return self

    @property
    def blobs_dir(self) -> Path:
        return self.data_dir / "blobs"

    @property
    def threads_per_process(self) -> int:
        return -(-self.web_threads // self.web_processes)

    @property
    def is_https(self) -> bool:
        return self.base_url.startswith("https://")

    @property
    def signing_key(self) -> str:
        """The key that cookies are signed by: given, or made once and kept in the data folder."""
        return self.secret_key or _kept_secret(self.data_dir / "secret_key")


@lru_cache(maxsize=1)
def load_settings() -> Settings:
    """The process's settings, read once."""
    return Settings()


def _set(settings: Settings, name: str, value: object) -> None:
    # The model is frozen for everybody else; this runs while it is being made.
    object.__setattr__(settings, name, value)


def _found_runtimes() -> dict[str, Path]:
    found = sorted((REPOSITORY / ".runtimes").glob("*/bin/python"))
    return {path.parents[1].name: path for path in found}


@lru_cache
def _kept_secret(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        _write_secret(path)
    return path.read_text().strip()


def _write_secret(path: Path) -> None:
    """Write a new secret beside its place and link it in, so that two starting processes agree on one."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    draft.touch(mode=0o600)
    draft.write_text(secrets.token_hex(32))
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
