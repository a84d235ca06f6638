package outbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/ports"
)

// xorCipher "encrypts" so that a test can see what was sealed for which row.
type xorCipher struct {
	ports.Cipher
	hasKey bool
}

func (c xorCipher) Seal(_ context.Context, plain, row []byte) ([]byte, error) {
	if !c.hasKey {
		return nil, nil
	}
	return append([]byte{2}, xor(plain, row)...), nil
}

func (c xorCipher) Open(_ context.Context, sealed, row []byte) ([]byte, error) {
	plain := xor(sealed[1:], row)
	if !json.Valid(plain) {
		return nil, errors.New("another row")
	}
	return plain, nil
}

func xor(text, key []byte) []byte {
	out := make([]byte, len(text))
	for i := range text {
		out[i] = text[i] ^ key[len(key)-1-i%16]
	}
	return out
}

func TestBody_SealedAndPlainAreRead(t *testing.T) {
	t.Parallel()
	// A body is stored sealed if there is a key, and as it is otherwise; both are read. A sealed body
	// opens for its own event, and not without a cipher.
	platform, event, body := uuid.New(), uuid.New(), []byte(`{"name":"Ana"}`)
	for name, c := range map[string]struct {
		cipher ports.Cipher
		sealed bool
	}{"no cipher": {nil, false}, "no key": {xorCipher{}, false}, "key": {xorCipher{hasKey: true}, true}} {
		stored, err := SealBody(t.Context(), c.cipher, platform, event, body)
		if err != nil || bytes.Equal(stored, body) == c.sealed {
			t.Errorf("%s: stored %q, %v", name, stored, err)
		}
		for reader, cipher := range map[string]ports.Cipher{"the same": c.cipher, "one with a key": xorCipher{hasKey: true}} {
			if read, err := openBody(t.Context(), cipher, platform, event, stored); err != nil || !bytes.Equal(read, body) {
				t.Errorf("%s, read with %s: %q, %v", name, reader, read, err)
			}
		}
	}
	sealed, err := SealBody(t.Context(), xorCipher{hasKey: true}, platform, event, body)
	if err != nil {
		t.Fatal(err)
	}
	if read, err := openBody(t.Context(), nil, platform, event, sealed); err == nil {
		t.Errorf("read without a cipher: %q", read)
	}
	if read, err := openBody(t.Context(), xorCipher{hasKey: true}, platform, uuid.New(), sealed); err == nil {
		t.Errorf("read for another event: %q", read)
	}
}

func TestSession_UnreadableBodyDelaysNoOther(t *testing.T) {
	t.Parallel()
	// A body that does not open, as after a restore without its key, is an error of its event only.
	cipher, platform := xorCipher{hasKey: true}, ident.Platform{}
	event := func(sealedFor uuid.UUID) ports.QueuedWebhook {
		e := ports.QueuedWebhook{Platform: platform}
		e.ID.SetUUID(uuid.New())
		if sealedFor == uuid.Nil {
			sealedFor = e.ID.UUID()
		}
		var err error
		if e.Body, err = SealBody(t.Context(), cipher, platform.UUID(), sealedFor, []byte(`{"name":"Ana"}`)); err != nil {
			t.Fatal(err)
		}
		return e
	}
	due := []ports.DueWebhooks{{Fresh: []ports.QueuedWebhook{event(uuid.New()), event(uuid.Nil)}},
		{Retries: []ports.QueuedWebhook{event(uuid.Nil)}}}

	(&session{cipher: cipher}).openBodies(t.Context(), due)

	if bad := due[0].Fresh[0]; bad.BodyError == nil || bad.Body != nil {
		t.Errorf("unreadable: body %q, error %v", bad.Body, bad.BodyError)
	}
	for _, e := range []ports.QueuedWebhook{due[0].Fresh[1], due[1].Retries[0]} {
		if e.BodyError != nil || string(e.Body) != `{"name":"Ana"}` {
			t.Errorf("readable: body %q, error %v", e.Body, e.BodyError)
		}
	}
}
