"""The text index of feedback."""

from icm_site.text_index import TextIndex
from memories.fts_schema import TOKENIZER

INDEX = TextIndex(
    table="feedback",
    columns=(
        "topic_index",
        "context_index",
        "predicted_index",
        "corrected_index",
        "reason_index",
    ),
    tokenizer=TOKENIZER,
)
