"""Places: countries, balancing areas, states, price areas, and the names under which people and bills know them."""

from __future__ import annotations

# ISO 3166-1 codes (checked against the ISO list as packaged in pycountry; XK for Kosovo is user-assigned, not ISO).
_COUNTRIES = """
AUT:AT BEL:BE BGR:BG HRV:HR CYP:CY CZE:CZ DNK:DK EST:EE FIN:FI FRA:FR DEU:DE GRC:GR HUN:HU IRL:IE ITA:IT LVA:LV LTU:LT
LUX:LU MLT:MT NLD:NL POL:PL PRT:PT ROU:RO SVK:SK SVN:SI ESP:ES SWE:SE ISL:IS NOR:NO CHE:CH GBR:GB UKR:UA TUR:TR GEO:GE
USA:US CAN:CA MEX:MX BRA:BR ARG:AR CHL:CL COL:CO
CHN:CN HKG:HK TWN:TW JPN:JP KOR:KR IND:IN SGP:SG MYS:MY IDN:ID THA:TH VNM:VN PHL:PH
AUS:AU NZL:NZ ISR:IL ARE:AE BHR:BH QAT:QA SAU:SA EGY:EG KEN:KE MAR:MA NAM:NA NGA:NG ZAF:ZA
ABW:AW AFG:AF AGO:AO ALB:AL ARM:AM ASM:AS ATG:AG AZE:AZ BDI:BI BEN:BJ BFA:BF BGD:BD BHS:BS BIH:BA BLR:BY BLZ:BZ BMU:BM
BOL:BO BRB:BB BRN:BN BTN:BT BWA:BW CAF:CF CIV:CI CMR:CM COD:CD COG:CG COK:CK COM:KM CPV:CV CRI:CR CUB:CU CYM:KY DJI:DJ
DMA:DM DOM:DO DZA:DZ ECU:EC ERI:ER ESH:EH ETH:ET FJI:FJ FLK:FK FRO:FO GAB:GA GHA:GH GIB:GI GIN:GN GLP:GP GMB:GM GNB:GW
GNQ:GQ GRD:GD GRL:GL GTM:GT GUF:GF GUM:GU GUY:GY HND:HN HTI:HT IRN:IR IRQ:IQ JAM:JM JOR:JO KAZ:KZ KGZ:KG KHM:KH KIR:KI
KNA:KN KWT:KW LAO:LA LBN:LB LBR:LR LBY:LY LCA:LC LKA:LK LSO:LS MAC:MO MDA:MD MDG:MG MDV:MV MKD:MK MLI:ML MMR:MM MNE:ME
MNG:MN MOZ:MZ MRT:MR MSR:MS MTQ:MQ MUS:MU MWI:MW NCL:NC NER:NE NIC:NI NPL:NP NRU:NR OMN:OM PAK:PK PAN:PA PER:PE PNG:PG
PRI:PR PRK:KP PRY:PY PSE:PS PYF:PF REU:RE RUS:RU RWA:RW SDN:SD SEN:SN SHN:SH SLB:SB SLE:SL SLV:SV SOM:SO SPM:PM SRB:RS
SSD:SS STP:ST SUR:SR SWZ:SZ SYC:SC SYR:SY TCA:TC TCD:TD TGO:TG TJK:TJ TKM:TM TLS:TL TON:TO TTO:TT TUN:TN TZA:TZ UGA:UG
URY:UY UZB:UZ VCT:VC VEN:VE VGB:VG VIR:VI VUT:VU WSM:WS XKX:XK YEM:YE ZMB:ZM ZWE:ZW
"""
COUNTRIES = tuple(_COUNTRIES.split())
WORLD = "WLD"

# The source calls it Congo, which is the name of two countries.
COUNTRY_NAMES = {"COG": "Republic of Congo"}

# Country that issues full disclosure: there is no residual mix, and the printed 0 is not a factor.
FULL_DISCLOSURE = {"AUT": "full disclosure of supply: no residual mix exists; AIB's printed 0 is not a zero factor"}

# zone_id: (name, annual zone, status, note)
BALANCING_AREAS: dict[str, tuple[str, str | None, str, str]] = {
    "US-CISO": (
        "California ISO (balancing area)",
        "CAMX",
        "estimate",
        "CAMX is wider than the balancing area; link recalled",
    ),
    "US-ERCO": ("ERCOT (balancing area)", "ERCT", "estimate", "same territory but for details; link recalled"),
    "US-PJM": ("PJM (balancing area)", None, "estimate", "lies in RFCE, RFCW, SRVC and others: no single annual zone"),
    "US-AZPS": (
        "Arizona Public Service (balancing area)",
        "AZNM",
        "estimate",
        "one of several areas in AZNM; link recalled",
    ),
    "US-BPAT": (
        "Bonneville Power Administration (balancing area)",
        "NWPP",
        "estimate",
        "nearly all hydro, while NWPP is wider and burns coal and gas; link recalled",
    ),
    "US-MISO": (
        "Midcontinent ISO (balancing area)",
        None,
        "estimate",
        "lies in MROW, MROE, RFCM, SRMW, SRMV and others: no single annual zone",
    ),
    "US-NYIS": (
        "New York ISO (balancing area)",
        None,
        "estimate",
        "lies in NYUP, NYCW and NYLI: no single annual zone",
    ),
    "US-SOCO": ("Southern Company (balancing area)", "SRSO", "estimate", "about the territory of SRSO; link recalled"),
}

# eGRID subregion -> hourly zone: an approximation, because the borders differ (recalled). Left out where the mixes
# differ much: NWPP (BPA is hydro), AZNM (APS is one utility of many), MROW.
SUBREGION_HOURLY = {
    "CAMX": "US-CISO",
    "ERCT": "US-ERCO",
    "RFCE": "US-PJM",
    "RFCW": "US-PJM",
    "SRSO": "US-SOCO",
    "NYUP": "US-NYIS",
    "NYCW": "US-NYIS",
    "NYLI": "US-NYIS",
    "RFCM": "US-MISO",
    "SRMW": "US-MISO",
    "MROE": "US-MISO",
}

# Zone of the cloud-region table -> hourly zone here. Zones of a country with hours need no line.
CLOUD_HOURLY = {
    "US-CAL-CISO": "US-CISO",
    "US-TEX-ERCO": "US-ERCO",
    "US-MIDA-PJM": "US-PJM",
    "US-NW-BPAT": "US-BPAT",
    "US-SW-AZPS": "US-AZPS",
    "US-MIDW-MISO": "US-MISO",
    "US-NY-NYIS": "US-NYIS",
    "US-SE-SOCO": "US-SOCO",
}

# Other names of countries; one name with two countries is refused as ambiguous. All recalled.
COUNTRY_ALIASES: list[tuple[str, str]] = [
    ("Korea", "KOR"),
    ("Korea, Rep.", "KOR"),
    ("Korea", "PRK"),
    ("Democratic People's Republic of Korea", "PRK"),
    ("Congo", "COG"),
    ("Congo-Brazzaville", "COG"),
    ("Republic of the Congo", "COG"),
    ("Congo", "COD"),
    ("DR Congo", "COD"),
    ("DRC", "COD"),
    ("Congo-Kinshasa", "COD"),
    ("Democratic Republic of the Congo", "COD"),
    ("Côte d'Ivoire", "CIV"),
    ("Ivory Coast", "CIV"),
    ("Cabo Verde", "CPV"),
    ("Timor-Leste", "TLS"),
    ("Swaziland", "SWZ"),
    ("Macedonia", "MKD"),
    ("Burma", "MMR"),
    ("Russian Federation", "RUS"),
    ("Viet Nam", "VNM"),
    ("Lao PDR", "LAO"),
    ("Lao People's Democratic Republic", "LAO"),
    ("Brunei Darussalam", "BRN"),
    ("Syrian Arab Republic", "SYR"),
    ("Republic of Moldova", "MDA"),
    ("Islamic Republic of Iran", "IRN"),
    ("United Republic of Tanzania", "TZA"),
    ("Plurinational State of Bolivia", "BOL"),
    ("Bolivarian Republic of Venezuela", "VEN"),
    ("Réunion", "REU"),
    ("São Tomé and Príncipe", "STP"),
    ("Kyrgyz Republic", "KGZ"),
    ("Slovak Republic", "SVK"),
    ("The Bahamas", "BHS"),
    ("The Gambia", "GMB"),
    ("Hong Kong SAR", "HKG"),
    ("Macau", "MAC"),
    ("State of Palestine", "PSE"),
    ("Virgin Islands", "VIR"),
    ("US Virgin Islands", "VIR"),
    ("Virgin Islands", "VGB"),
    ("The Netherlands", "NLD"),
    ("Holland", "NLD"),
    ("Mainland China", "CHN"),
    ("People's Republic of China", "CHN"),
    ("Global", "WLD"),
    ("Bosnia", "BIH"),
    ("Trinidad", "TTO"),
    ("St Kitts and Nevis", "KNA"),
    ("St Lucia", "LCA"),
    ("St Vincent and the Grenadines", "VCT"),
    ("Falkland Islands (Malvinas)", "FLK"),
    ("St Helena", "SHN"),
]

# Price areas and provinces that have no factor of their own: names -> country, and what they are. All recalled.
PRICE_AREAS: dict[str, tuple[str, str]] = {
    "SE1 SE2 SE3 SE4 SE-SE1 SE-SE2 SE-SE3 SE-SE4 SE-1 SE-2 SE-3 SE-4": ("SWE", "price area"),
    "NO1 NO2 NO3 NO4 NO5 NO-NO1 NO-NO2 NO-NO3 NO-NO4 NO-NO5 NO-1 NO-2 NO-3 NO-4 NO-5": ("NOR", "price area"),
    "DK1 DK2 DK-DK1 DK-DK2 DK-1 DK-2": ("DNK", "price area"),
    "IT-NO IT-CNO IT-CSO IT-SO IT-SIC IT-SAR": ("ITA", "price area"),
    "IT-NORD IT-CNOR IT-CSUD IT-SUD IT-CALA IT-SICI IT-SARD": ("ITA", "price area"),
    "GB-NIR": ("GBR", "part of the country"),
    "IE-SEM I-SEM": ("IRL", "price area (all of the island)"),
    "AU-NSW AU-QLD AU-SA AU-TAS AU-VIC AU-WA AU-NT NSW1 QLD1 SA1 TAS1 VIC1": ("AUS", "price area"),
    "CA-QC CA-ON CA-AB CA-BC CA-MB CA-SK CA-NS CA-NB CA-NL CA-PE": ("CAN", "province"),
    "Quebec Québec Ontario Alberta Manitoba Saskatchewan": ("CAN", "province"),
    "JP-TK JP-KN JP-HKD JP-TH JP-CB JP-HR JP-CG JP-SK JP-KY JP-ON": ("JPN", "price area"),
    "IN-NO IN-WE IN-SO IN-EA IN-NE": ("IND", "region of the grid"),
    "BR-CS BR-N BR-NE BR-S": ("BRA", "price area"),
    "CL-SEN": ("CHL", "region of the grid"),
    "MY-WM MY-EM": ("MYS", "region of the grid"),
}

# (alias, zone, relation, hourly zone, status, note); a name may fit several zones: it is then refused as ambiguous.
ZONE_ALIASES: list[tuple[str, str, str, str | None, str, str]] = [
    ("UK", "GBR", "same", None, "catalogue", ""),
    ("Great Britain", "GBR", "same", None, "estimate", "without Northern Ireland in the strict sense"),
    ("Czech Republic", "CZE", "same", None, "catalogue", ""),
    ("Republic of Korea", "KOR", "same", None, "catalogue", ""),
    ("Türkiye", "TUR", "same", None, "catalogue", ""),
    ("Turkiye", "TUR", "same", None, "catalogue", ""),
    ("UAE", "ARE", "same", None, "catalogue", ""),
    ("United States of America", "USA", "same", None, "catalogue", ""),
    ("US Average", "USA", "same", None, "catalogue", "name of the eGRID row"),
    ("DE-LU", "DEU", "part_of", "DEU", "estimate", "bidding zone Germany and Luxembourg: Germany is used"),
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
    *[(name, f"US-{name}", "same", f"US-{name}", "catalogue", "") for name in ("AZPS", "BPAT", "MISO", "NYIS", "SOCO")],
    ("BPA", "US-BPAT", "same", "US-BPAT", "catalogue", ""),
    ("NYISO", "US-NYIS", "same", "US-NYIS", "catalogue", ""),
    *[
        (name, zone_id, "same", zone_id, "catalogue", "zone name of Electricity Maps")
        for name, zone_id in (
            ("US-SW-AZPS", "US-AZPS"),
            ("US-NW-BPAT", "US-BPAT"),
            ("US-MIDW-MISO", "US-MISO"),
            ("US-NY-NYIS", "US-NYIS"),
            ("US-SE-SOCO", "US-SOCO"),
        )
    ],
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
    ("Georgia", "US-GA"): ("SRSO", "US-SOCO", "the state"),
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
    ("US-PR", ""): ("PRMS", None, "Puerto Rico by the name is the country zone PRI"),
    ("New York", "US-NY"): ("NYCW NYLI NYUP", "US-NYIS", "city, Long Island and upstate differ"),
    ("Hawaii", "US-HI"): ("HIOA HIMS", None, "Oahu and the other islands differ"),
    ("Alaska", "US-AK"): ("AKGD AKMS", None, "the connected grid and the rest differ"),
    ("Washington", ""): ("NWPP RFCE", None, "the state and the capital differ"),
    ("Washington DC", "US-DC"): ("RFCE", "US-PJM", ""),
    ("Alabama", "US-AL"): ("SRSO", "US-SOCO", "the north is in SRTV"),
    ("Arkansas", "US-AR"): ("SRMV", None, "the west is in SPSO"),
    ("Connecticut", "US-CT"): ("NEWE", None, ""),
    ("Delaware", "US-DE"): ("RFCE", "US-PJM", ""),
    ("District of Columbia", ""): ("RFCE", "US-PJM", ""),
    ("Florida", "US-FL"): ("FRCC", None, "the west is in SRSO"),
    ("Idaho", "US-ID"): ("NWPP", None, ""),
    ("Illinois", "US-IL"): ("RFCW SRMW", None, "the north (Chicago) and the south differ"),
    ("Indiana", "US-IN"): ("RFCW", None, ""),
    ("Kansas", "US-KS"): ("SPNO", None, ""),
    ("Kentucky", "US-KY"): ("SRTV RFCW", None, "most is in SRTV, the east in RFCW"),
    ("Louisiana", "US-LA"): ("SRMV", None, "the northwest is in SPSO"),
    ("Maine", "US-ME"): ("NEWE", None, ""),
    ("Maryland", "US-MD"): ("RFCE", "US-PJM", "the west is in RFCW"),
    ("Michigan", "US-MI"): ("RFCM", "US-MISO", "the upper peninsula is in MROE, the southwest in RFCW"),
    ("Minnesota", "US-MN"): ("MROW", None, ""),
    ("Mississippi", "US-MS"): ("SRMV SRSO SRTV", None, "three subregions share it"),
    ("Missouri", "US-MO"): ("SRMW SPNO", None, "east and west differ"),
    ("Montana", "US-MT"): ("NWPP", None, "the east is in MROW"),
    ("Nebraska", "US-NE"): ("MROW", None, ""),
    ("Nevada", "US-NV"): ("NWPP AZNM", None, "the south (Las Vegas) is in AZNM"),
    ("New Hampshire", "US-NH"): ("NEWE", None, ""),
    ("New Mexico", "US-NM"): ("AZNM", None, "the east is in SPSO"),
    ("North Dakota", "US-ND"): ("MROW", None, ""),
    ("Oklahoma", "US-OK"): ("SPSO", None, ""),
    ("Pennsylvania", "US-PA"): ("RFCE RFCW", "US-PJM", "east and west differ"),
    ("Rhode Island", "US-RI"): ("NEWE", None, ""),
    ("South Dakota", "US-SD"): ("MROW", None, "the west is in RMPA"),
    ("Utah", "US-UT"): ("NWPP", None, ""),
    ("Vermont", "US-VT"): ("NEWE", None, ""),
    ("West Virginia", "US-WV"): ("RFCW", "US-PJM", ""),
    ("Wisconsin", "US-WI"): ("MROE MROW", None, "east and west differ"),
    ("Wyoming", "US-WY"): ("RMPA NWPP", None, "east and west differ"),
}
