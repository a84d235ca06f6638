package ports_test

import (
	"bytes"
	"testing"

	"github.com/google/uuid"

	"causeway/ports"
)

func TestIdempotentRequest_Hash(t *testing.T) {
	t.Parallel()
	// A request that is sent again has the same hash, also with another token. One of another platform, agent, key or content has another.
	request := func(edit func(*ports.IdempotentRequest)) []byte {
		r := ports.IdempotentRequest{Key: "one", Fingerprint: [32]byte{1}}
		r.Platform.SetUUID(uuid.UUID{1})
		edit(&r)
		return r.Hash()
	}
	hash := request(func(*ports.IdempotentRequest) {})
	if !bytes.Equal(hash, request(func(r *ports.IdempotentRequest) { r.Token.SetUUID(uuid.UUID{2}) })) {
		t.Error("another token: another hash")
	}
	for name, edit := range map[string]func(*ports.IdempotentRequest){
		"platform": func(r *ports.IdempotentRequest) { r.Platform.SetUUID(uuid.UUID{2}) },
		"agent":    func(r *ports.IdempotentRequest) { r.Agent.SetUUID(uuid.UUID{2}) },
		"key":      func(r *ports.IdempotentRequest) { r.Key = "two" },
		"content":  func(r *ports.IdempotentRequest) { r.Fingerprint = [32]byte{2} },
	} {
		if bytes.Equal(hash, request(edit)) {
			t.Errorf("another %s: the same hash", name)
		}
	}
}
