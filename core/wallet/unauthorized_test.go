package wallet_test

import (
	"crypto/sha256"
	"encoding/base64"
	"testing"
	"time"

	"causeway/core/fault"
	"causeway/core/wallet"
)

func TestUnauthorized_DetailsNameTheCode(t *testing.T) {
	t.Parallel()
	// What is wrong with a signature or a Request-Id has a code for programs in the details, beside the reason. What is wrong with
	// another proof has none.
	_, noSignature := wallet.Call{RequestID: "x"}.ParseRequestID()
	_, noRequestID := wallet.Call{Signature: "x"}.ParseRequestID()
	_, unknown := wallet.ParseRequestID("x")
	_, malformed := wallet.ParseSignature("x")
	_, otherScheme := wallet.ParseSignature(stamp(newClient(t).public(), "other", []byte{1}))
	_, byNobody := wallet.Signer("payload", base64.StdEncoding.EncodeToString([]byte{0x30, 0}), nil)
	now := time.Now()
	asked := wallet.SignedRequest{ExpiresAt: now.Add(time.Minute), Fingerprint: sha256.Sum256(nil)}
	differs := asked.Check(wallet.Action{}, wallet.Call{}, now)
	for name, c := range map[string]struct {
		err  error
		want any
	}{
		"no signature":              {noSignature, "WALLET_SIGNATURE_MISSING"},
		"no Request-Id":             {noRequestID, "REQUEST_ID_MISSING"},
		"none of a challenge":       {wallet.MissingRequestID(), "REQUEST_ID_MISSING"},
		"an unknown Request-Id":     {unknown, nil},
		"no form of a signature":    {malformed, "WALLET_SIGNATURE_MALFORMED"},
		"another scheme":            {otherScheme, "WALLET_SIGNATURE_MALFORMED"},
		"by no session":             {byNobody, "WALLET_SIGNATURE_INVALID"},
		"by the wrong credential":   {wallet.SignedByRevoked(), "WALLET_SIGNATURE_INVALID"},
		"on another request":        {differs, "WALLET_SIGNATURE_BODY_MISMATCH"},
		"a wrong code":              {wallet.InvalidCode(), nil},
		"no signature of a quote":   {wallet.MissingSignature("Sign."), "WALLET_SIGNATURE_MISSING"},
		"a passkey that is refused": {wallet.InvalidPasskey("Wrong."), nil},
	} {
		f, ok := fault.As(c.err)
		if !ok || f.Code != fault.Unauthorized || f.Reason == "" || f.Details["code"] != c.want {
			t.Errorf("%s: %v with %v, want the code %v", name, c.err, f.Details, c.want)
		}
	}
}
