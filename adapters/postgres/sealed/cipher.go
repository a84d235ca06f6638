package sealed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"causeway/ports"
)

var (
	// ErrNoCipher is the error for an encrypted value if there is no cipher.
	ErrNoCipher  = errors.New("the data is encrypted; set CAUSEWAY_MASTER_KEY to read it")
	errNoDataKey = errors.New("there is no data key, and this value is never stored without encryption; set CAUSEWAY_MASTER_KEY, and create " +
		"a data key with: causeway keys rotate")
)

// Cipher encrypts and decrypts the values of columns. The zero Cipher stores them as they are.
type Cipher struct{ cipher ports.Cipher }

// New returns the cipher of columns that encrypts with data keys. Nil encrypts nothing, and reads nothing that is encrypted.
func New(cipher ports.Cipher) Cipher { return Cipher{cipher} }

// Fingerprint returns the keyed hash of a text, or the text if it is empty or there is no key.
func (c Cipher) Fingerprint(ctx context.Context, text string) (string, error) {
	if text == "" || c.cipher == nil {
		return text, nil
	}
	return c.cipher.Fingerprint(ctx, text)
}

// SealJSON returns the value of a jsonb column.
func (c Cipher) SealJSON(ctx context.Context, row Row, column Column, value any) (json.RawMessage, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return c.Seal(ctx, row, column, plain)
}

// OpenJSON decodes the value of a jsonb column.
func (c Cipher) OpenJSON(ctx context.Context, row Row, column Column, stored []byte, into any) error {
	plain, err := c.Open(ctx, row, column, stored)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(plain, into); err != nil {
		return fmt.Errorf("%s of %s: %w", column, row.ID, err)
	}
	return nil
}

// SealText returns the value of a text column. The empty text is stored as it is.
func (c Cipher) SealText(ctx context.Context, row Row, column Column, text string) (string, error) {
	stored, err := c.Seal(ctx, row, column, []byte(text))
	return string(stored), err
}

// SealJSONText returns the value of a text column with a JSON text, which OpenJSON decodes.
func (c Cipher) SealJSONText(ctx context.Context, row Row, column Column, value any) (string, error) {
	stored, err := c.SealJSON(ctx, row, column, value)
	return string(stored), err
}

// OpenText returns the text of a text column.
func (c Cipher) OpenText(ctx context.Context, row Row, column Column, stored string) (string, error) {
	plain, err := c.Open(ctx, row, column, []byte(stored))
	return string(plain), err
}

// Seal returns the value of a column: encrypted, or as it is if it is empty or there is no
// data key, or none of the generation with which the column began to be encrypted.
func (c Cipher) Seal(ctx context.Context, row Row, column Column, plain []byte) ([]byte, error) {
	if len(plain) == 0 {
		return []byte{}, nil
	}
	if c.cipher == nil {
		return plain, nil
	}
	if since, later := encryptedSince[column]; later {
		if newest, err := c.cipher.NewestKey(ctx); err != nil || newest.Generation < since {
			return plain, err
		}
	}
	sealed, err := c.cipher.Seal(ctx, plain, column.context(row))
	if err != nil || sealed == nil {
		return plain, err
	}
	return register[column].format.encode(sealed), nil
}

// SealSecret is like Seal, for a value that is never stored as it is: without a data key it returns an
// error.
func (c Cipher) SealSecret(ctx context.Context, row Row, column Column, secret []byte) ([]byte, error) {
	if c.cipher == nil {
		return nil, errNoDataKey
	}
	sealed, err := c.cipher.Seal(ctx, secret, column.context(row))
	switch {
	case err != nil:
		return nil, err
	case sealed == nil:
		return nil, errNoDataKey
	}
	return register[column].format.encode(sealed), nil
}

// OpenSecret returns what SealSecret was given, and an error for a value that is stored as it is.
func (c Cipher) OpenSecret(ctx context.Context, row Row, column Column, stored []byte) ([]byte, error) {
	if _, isSealed, err := register[column].format.decode(stored); err == nil && !isSealed {
		return nil, fmt.Errorf("%s of %s is not encrypted", column, row.ID)
	}
	return c.Open(ctx, row, column, stored)
}

// Open returns what Seal was given.
func (c Cipher) Open(ctx context.Context, row Row, column Column, stored []byte) ([]byte, error) {
	sealed, isSealed, err := register[column].format.decode(stored)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s of %s: %w: %w", column, row.ID, ports.ErrCannotDecrypt, err)
	case !isSealed:
		return stored, nil
	case c.cipher == nil:
		return nil, ErrNoCipher
	}
	plain, err := c.cipher.Open(ctx, sealed, column.context(row))
	if err != nil {
		return nil, fmt.Errorf("%s of %s: %w", column, row.ID, err)
	}
	return plain, nil
}
