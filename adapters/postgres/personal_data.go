package postgres

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"causeway/ports"
)

// sealedRow identifies a row to the cipher, which binds values to it.
type sealedRow struct{ platform, id uuid.UUID }

var (
	errNoCipher  = errors.New("the data is encrypted; set CAUSEWAY_MASTER_KEY to read it")
	errNoDataKey = errors.New("there is no data key, and this value is never stored without encryption; set CAUSEWAY_MASTER_KEY, and create " +
		"a data key with: causeway keys rotate")
)

// sealJSON returns the value of a jsonb column.
func (db *DB) sealJSON(ctx context.Context, row sealedRow, column sealedColumn, value any) (json.RawMessage, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return db.seal(ctx, row, column, plain)
}

// openJSON decodes the value of a jsonb column.
func (db *DB) openJSON(ctx context.Context, row sealedRow, column sealedColumn, stored []byte, into any) error {
	plain, err := db.open(ctx, row, column, stored)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(plain, into); err != nil {
		return fmt.Errorf("%s.%s of %s: %w", sealedColumns[column].table, sealedColumns[column].name, row.id, err)
	}
	return nil
}

// sealText returns the value of a text column. The empty text is stored as it is.
func (db *DB) sealText(ctx context.Context, row sealedRow, column sealedColumn, text string) (string, error) {
	stored, err := db.seal(ctx, row, column, []byte(text))
	return string(stored), err
}

// sealJSONText returns the value of a text column with a JSON text, which openJSON decodes.
func (db *DB) sealJSONText(ctx context.Context, row sealedRow, column sealedColumn, value any) (string, error) {
	stored, err := db.sealJSON(ctx, row, column, value)
	return string(stored), err
}

// openText returns the text of a text column.
func (db *DB) openText(ctx context.Context, row sealedRow, column sealedColumn, stored string) (string, error) {
	plain, err := db.open(ctx, row, column, []byte(stored))
	return string(plain), err
}

// seal returns the value of a column: encrypted, or as it is if it is empty or there is no
// data key, or none of the generation with which the column began to be encrypted.
func (db *DB) seal(ctx context.Context, row sealedRow, column sealedColumn, plain []byte) ([]byte, error) {
	if len(plain) == 0 {
		return []byte{}, nil
	}
	if db.cipher == nil {
		return plain, nil
	}
	if since, later := encryptedSince[column]; later {
		if newest, err := db.cipher.NewestKey(ctx); err != nil || newest.Generation < since {
			return plain, err
		}
	}
	sealed, err := db.cipher.Seal(ctx, plain, column.context(row))
	if err != nil || sealed == nil {
		return plain, err
	}
	return sealedColumns[column].format.encode(sealed), nil
}

// sealSecret is like seal, for a value that is never stored as it is: without a data key it returns an
// error.
func (db *DB) sealSecret(ctx context.Context, row sealedRow, column sealedColumn, secret []byte) ([]byte, error) {
	if db.cipher == nil {
		return nil, errNoDataKey
	}
	sealed, err := db.cipher.Seal(ctx, secret, column.context(row))
	switch {
	case err != nil:
		return nil, err
	case sealed == nil:
		return nil, errNoDataKey
	}
	return sealedColumns[column].format.encode(sealed), nil
}

// openSecret returns what sealSecret was given, and an error for a value that is stored as it is.
func (db *DB) openSecret(ctx context.Context, row sealedRow, column sealedColumn, stored []byte) ([]byte, error) {
	if _, isSealed, err := sealedColumns[column].format.decode(stored); err == nil && !isSealed {
		return nil, fmt.Errorf("%s.%s of %s is not encrypted", sealedColumns[column].table, sealedColumns[column].name, row.id)
	}
	return db.open(ctx, row, column, stored)
}

// open returns what seal was given.
func (db *DB) open(ctx context.Context, row sealedRow, column sealedColumn, stored []byte) ([]byte, error) {
	name := func() string { return sealedColumns[column].table + "." + sealedColumns[column].name }
	sealed, isSealed, err := sealedColumns[column].format.decode(stored)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s of %s: %w: %w", name(), row.id, ports.ErrCannotDecrypt, err)
	case !isSealed:
		return stored, nil
	case db.cipher == nil:
		return nil, errNoCipher
	}
	plain, err := db.cipher.Open(ctx, sealed, column.context(row))
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", name(), row.id, err)
	}
	return plain, nil
}
