-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- The filters of lists that people have saved, by their names. A filter names no customer: what identifies one is not kept.
CREATE TABLE saved_filters (
    platform_id uuid        NOT NULL CONSTRAINT saved_filter_platform_fkey REFERENCES platforms,
    person_id   uuid        NOT NULL CONSTRAINT saved_filter_person_fkey REFERENCES people,
    list        text        NOT NULL CONSTRAINT saved_filter_list_length CHECK (length(list) BETWEEN 1 AND 40), -- such as payments
    name        text        NOT NULL CONSTRAINT saved_filter_name_length CHECK (length(name) BETWEEN 1 AND 60),
    query       text        NOT NULL CONSTRAINT saved_filter_query_length CHECK (length(query) <= 1000),
    saved_at    timestamptz NOT NULL,
    PRIMARY KEY (platform_id, person_id, list, name)
);
GRANT SELECT, INSERT, UPDATE, DELETE ON saved_filters TO causeway_service;
SELECT isolate_platforms('saved_filters');
