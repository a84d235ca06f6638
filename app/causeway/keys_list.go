package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/encryption"
	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

type keysListCommand struct{ databaseFlags }

// Run needs no master key.
func (k keysListCommand) Run(ctx context.Context, out io.Writer) error {
	return k.withDatabase(ctx, func(db *postgres.DB) error {
		keys, err := db.DataKeys(ctx)
		if err != nil {
			return err
		}
		uses, err := countUses(ctx, db)
		if err != nil {
			return err
		}
		return writeKeys(out, keys, uses)
	})
}

// countUses returns the rows that use each data key.
func countUses(ctx context.Context, db *postgres.DB) ([]postgres.DataKeyUse, error) {
	total, err := db.EstimateSealedRows(ctx)
	if err != nil {
		return nil, err
	}
	bar, done := newProgress(os.Stderr, "rows"), int64(0)
	defer bar.finish()
	return db.DataKeyUses(ctx, func(_ string, read int) {
		done += int64(read)
		bar.update(done, max(done, total))
	})
}

// writeKeys prints the data keys, the newest last, and what is not encrypted.
func writeKeys(out io.Writer, keys []ports.SealedDataKey, uses []postgres.DataKeyUse) error {
	keys = slices.DeleteFunc(keys, func(k ports.SealedDataKey) bool { return k.Purpose != ports.DataKey })
	slices.SortFunc(keys, func(a, b ports.SealedDataKey) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), bytes.Compare(a.ID[:], b.ID[:]))
	})
	var t table
	for i, k := range keys {
		state := "unused"
		switch {
		case i == len(keys)-1:
			state = "newest"
		case usedBy(uses, k.ID) != "-":
			state = "used"
		}
		t.add(k.ID.String(), k.CreatedAt.UTC().Format(time.RFC3339), state, usedBy(uses, k.ID))
	}
	if plain := usedBy(uses, uuid.Nil); plain != "-" {
		t.add("not encrypted", "-", "-", plain)
	}
	return t.write(out, "data key", "created", "state", "rows")
}

// usedBy names the tables that use a data key, with their numbers of rows.
func usedBy(uses []postgres.DataKeyUse, key uuid.UUID) string {
	var tables []string
	for _, use := range uses {
		if use.Key == key {
			tables = append(tables, fmt.Sprintf("%s %d", use.Table, use.Rows))
		}
	}
	return cmp.Or(strings.Join(tables, ", "), "-")
}

type keysRemoveCommand struct {
	databaseFlags
	Key string `arg:"" help:"Id of a data key, as listed." placeholder:"KEY"`
	actorFlag
}

// Run needs no master key.
func (k keysRemoveCommand) Run(ctx context.Context, out io.Writer) error {
	id, err := uuid.Parse(k.Key)
	if err != nil {
		return fmt.Errorf("%q is not the id of a data key; list them with: causeway keys list", k.Key)
	}
	action, err := k.action(platform.OperatorRemovedDataKey, ident.Platform{}, id.String())
	if err != nil {
		return err
	}
	return k.withDatabase(ctx, func(db *postgres.DB) error {
		keys, err := db.DataKeys(ctx)
		if err != nil {
			return err
		}
		if err := encryption.CheckRemovable(keys, id, systemClock{}.Now()); err != nil {
			return err
		}
		uses, err := countUses(ctx, db)
		if err != nil {
			return err
		}
		if tables := usedBy(uses, id); tables != "-" {
			return fmt.Errorf("the data key %s still encrypts rows: %s; encrypt them with the newest key first: causeway keys reencrypt", id, tables)
		}
		if err := db.Recording(action).RemoveDataKey(ctx, id); err != nil {
			return err
		}
		_, err = fmt.Fprintf(out, "Data key %s is removed. Backups made before still contain it.\n", id)
		return err
	})
}
