package postgres

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
)

// Personal data is stored sealed by the Cipher, or, in rows that were written before there was a
// data key, as it is. A sealed jsonb column holds a string, which a plain one never does; a sealed
// text column begins with a control character.
const sealedTextPrefix = "\x01"

// sealedRow names a row as the cipher binds values to it.
type sealedRow struct {
	table        string
	platform, id uuid.UUID
}

func (r sealedRow) column(name string) []byte {
	context := make([]byte, 0, len(r.table)+len(name)+2*len(uuid.UUID{})+2)
	context = append(append(append(append(context, r.table...), '.'), name...), 0)
	return append(append(context, r.platform[:]...), r.id[:]...)
}

var errNoCipher = errors.New("the data is encrypted; set CAUSEWAY_MASTER_KEY to read it")

// sealJSON returns the value of a jsonb column.
func (db *DB) sealJSON(ctx context.Context, row sealedRow, column string, value any) (json.RawMessage, error) {
	plain, err := json.Marshal(value)
	if err != nil || db.cipher == nil {
		return plain, err
	}
	sealed, err := db.cipher.Seal(ctx, plain, row.column(column))
	if err != nil || sealed == nil {
		return plain, err
	}
	return json.Marshal(sealed)
}

// openJSON decodes the value of a jsonb column.
func (db *DB) openJSON(ctx context.Context, row sealedRow, column string, stored []byte, into any) error {
	if !bytes.HasPrefix(stored, []byte{'"'}) {
		return json.Unmarshal(stored, into)
	}
	var sealed []byte
	if err := json.Unmarshal(stored, &sealed); err != nil {
		return err
	}
	plain, err := db.open(ctx, row, column, sealed)
	if err != nil {
		return err
	}
	return json.Unmarshal(plain, into)
}

// sealText returns the value of a text column. The empty text is stored as it is.
func (db *DB) sealText(ctx context.Context, row sealedRow, column, text string) (string, error) {
	if text == "" || db.cipher == nil {
		return text, nil
	}
	sealed, err := db.cipher.Seal(ctx, []byte(text), row.column(column))
	if err != nil || sealed == nil {
		return text, err
	}
	return sealedTextPrefix + base64.StdEncoding.EncodeToString(sealed), nil
}

// openText returns the text of a text column.
func (db *DB) openText(ctx context.Context, row sealedRow, column, stored string) (string, error) {
	encoded, isSealed := strings.CutPrefix(stored, sealedTextPrefix)
	if !isSealed {
		return stored, nil
	}
	sealed, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return "", err
	}
	plain, err := db.open(ctx, row, column, sealed)
	return string(plain), err
}

// sealBytes returns the value of a bytea column that holds a text. The empty text is stored as it is.
func (db *DB) sealBytes(ctx context.Context, row sealedRow, column string, text []byte) ([]byte, error) {
	if len(text) == 0 {
		return []byte{}, nil
	}
	if db.cipher == nil {
		return text, nil
	}
	sealed, err := db.cipher.Seal(ctx, text, row.column(column))
	if err != nil || sealed == nil {
		return text, err
	}
	return sealed, nil
}

// openBytes returns the text of a bytea column. A sealed value begins with a version below any
// printable character.
func (db *DB) openBytes(ctx context.Context, row sealedRow, column string, stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] >= ' ' {
		return stored, nil
	}
	return db.open(ctx, row, column, stored)
}

func (db *DB) open(ctx context.Context, row sealedRow, column string, sealed []byte) ([]byte, error) {
	if db.cipher == nil {
		return nil, errNoCipher
	}
	plain, err := db.cipher.Open(ctx, sealed, row.column(column))
	if err != nil {
		return nil, fmt.Errorf("%s.%s of %s: %w", row.table, column, row.id, err)
	}
	return plain, nil
}

// opener is a row with sealed columns, which are opened after it was read.
type opener interface {
	open(ctx context.Context, db *DB) error
}

// openRow opens the sealed columns of a row, if it has any.
func openRow(ctx context.Context, db *DB, row any) error {
	if r, ok := row.(opener); ok {
		return r.open(ctx, db)
	}
	return nil
}
