package wallet

import (
	"crypto/sha256"
	"testing"
)

func TestCall_FingerprintCoversRequestAndNotSignature(t *testing.T) {
	t.Parallel()
	// Calls with another method, path, query or body have other fingerprints, also where their parts joined
	// are the same text. The headers make no difference: both legs have one fingerprint.
	call := Call{Method: "POST", Path: "/a/b?c=d", BodyHash: sha256.Sum256([]byte("{}"))}
	seen := map[[sha256.Size]byte]string{call.Fingerprint(): "the call"}
	for name, other := range map[string]Call{
		"method":       {Method: "PUT", Path: call.Path, BodyHash: call.BodyHash},
		"path":         {Method: call.Method, Path: "/a/c?c=d", BodyHash: call.BodyHash},
		"query":        {Method: call.Method, Path: "/a/b?c=e", BodyHash: call.BodyHash},
		"body":         {Method: call.Method, Path: call.Path, BodyHash: sha256.Sum256([]byte("{ }"))},
		"moved letter": {Method: "POST/", Path: "a/b?c=d", BodyHash: call.BodyHash},
	} {
		if same, found := seen[other.Fingerprint()]; found {
			t.Errorf("another %s has the fingerprint of %s", name, same)
		}
		seen[other.Fingerprint()] = name
	}

	second := call
	second.Signature, second.RequestID = "signature", "Request:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"
	if second.Fingerprint() != call.Fingerprint() {
		t.Error("the legs of a request have different fingerprints")
	}
}
