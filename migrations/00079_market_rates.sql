-- +goose Up
-- Market rates as they were at a time, so that a position of the past is valued at the rates of its
-- time. They are the same for all platforms. Rows are deleted after ten years, in
-- adapters/postgres/market_rates.go.
SET LOCAL lock_timeout = '1s';

CREATE TABLE market_rates (
    kept_at  timestamptz NOT NULL,
    currency text        NOT NULL,
    usd_rate text        NOT NULL, -- smallest units of USD for one smallest unit of the currency
    rate_at  timestamptz NOT NULL,
    source   text        NOT NULL,
    PRIMARY KEY (kept_at, currency),
    CONSTRAINT market_rate_positive CHECK (usd_rate::numeric > 0),
    CONSTRAINT market_rate_not_from_future CHECK (rate_at <= kept_at),
    CONSTRAINT market_rate_has_source CHECK (source <> '')
);
GRANT SELECT, INSERT, DELETE ON market_rates TO causeway_service;
