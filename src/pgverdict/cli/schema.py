"""`pgverdict schema`: the JSON Schema of campaign files, for editors."""

import json
import sys


def schema() -> None:
    """Print the JSON Schema of campaign files, with the workloads and metrics there are."""
    from pgverdict.spec.campaign import primary_metrics
    from pgverdict.spec.file import CampaignFile  # pydantic: `--help` answers without
    from pgverdict.workloads import catalogue

    made = CampaignFile.model_json_schema()
    made["$schema"] = "https://json-schema.org/draft/2020-12/schema"
    workloads = {"enum": list(catalogue.names())}
    tables = made["$defs"]
    tables["WorkloadTable"]["properties"]["name"]["anyOf"] = [
        workloads,
        {"type": "array", "items": workloads, "minItems": 1},
    ]
    tables["WorkloadTable"]["oneOf"] = [{"required": ["name"]}, {"required": ["script"]}]
    for table in ("WorkloadTable", "DefaultsTable"):
        tables[table]["properties"]["primary"]["anyOf"] = [{"enum": list(primary_metrics())}]
    sys.stdout.write(json.dumps(made, indent=2) + "\n")
