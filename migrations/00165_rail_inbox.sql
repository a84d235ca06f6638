-- +goose Up
-- What a partner reported and could not be understood is kept aside too, with the place where it was: an event of a list, a
-- file of a folder. The program knows the kinds, of which each version may add some. The table is small.
SET LOCAL lock_timeout = '1s';
ALTER TABLE rail_feed_items ADD COLUMN place text NOT NULL DEFAULT '' CONSTRAINT rail_feed_item_place_length CHECK (length(place) <= 500);
ALTER TABLE rail_feed_items DROP CONSTRAINT rail_feed_item_kind_known;
ALTER TABLE rail_feed_items ADD CONSTRAINT rail_feed_item_kind_form CHECK (kind ~ '^[A-Z_]{1,40}$');
