-- Every scope side by side: Scope 2 by each method, scope 3 category 3 by the location method, scope 1 with no method.
SELECT
    quarter,
    site_id,
    owner_kind,
    owner,
    scope,
    category,
    method,
    basis,
    emissions_kgco2e,
    CAST(NULL AS VARCHAR) AS note
FROM main.emissions_quarterly
UNION ALL
SELECT
    quarter,
    site_id,
    owner_kind,
    owner,
    scope,
    category,
    method,
    basis,
    emissions_kgco2e,
    note
FROM core.other_emission
