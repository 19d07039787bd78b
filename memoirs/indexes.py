"""The text index of concepts."""

from icm_site.text_index import TextIndex
from memories.fts_schema import TOKENIZER

INDEX = TextIndex(
    table="concepts",
    columns=("name_index", "definition_index", "labels_index"),
    tokenizer=TOKENIZER,
)
