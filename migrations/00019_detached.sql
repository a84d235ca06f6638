-- +goose Up

-- Months of the books that were detached: nothing that was recorded before the end of the
-- last of them is here. Whoever detaches or attaches months is the owner of the tables.
CREATE TABLE ledger_detached (
    month       date        PRIMARY KEY CONSTRAINT ledger_detached_is_a_month CHECK (extract(day FROM month) = 1),
    detached_at timestamptz NOT NULL DEFAULT now()
);
GRANT SELECT ON ledger_detached TO causeway_service;

-- +goose Down
DROP TABLE ledger_detached;
