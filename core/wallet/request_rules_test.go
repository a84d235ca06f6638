package wallet

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/fault"
	"causeway/core/ident"
)

func reasonOf(err error) string {
	if f, ok := fault.As(err); ok && f.Code == fault.Unauthorized {
		return f.Reason
	}
	return fmt.Sprint(err)
}

func TestSignedRequest_CheckNamesFirstFailure(t *testing.T) {
	t.Parallel()
	// A second leg must be the same request, in time, and once; of several failures the first in the
	// published order is named.
	action := Action{Platform: ident.NewPlatform(ids, noon), Account: ident.NewInternalAccount(ids, noon), Operation: ExportWallet}
	call := Call{Method: "POST", Path: "/internal-accounts/1/export", BodyHash: sha256.Sum256([]byte("{}"))}
	issued := NewSignedRequest(ident.NewSignedRequest(ids, noon), action, call, noon)
	used := issued
	used.UsedAt = noon
	otherBody, otherPath, otherMethod := call, call, call
	otherBody.BodyHash[0]++
	otherPath.Path += "?"
	otherMethod.Method = "PATCH"
	otherAccount, otherPlatform, otherOperation := action, action, action
	otherAccount.Account = ident.NewInternalAccount(ids, noon)
	otherPlatform.Platform = ident.NewPlatform(ids, noon)
	otherOperation.Operation = RevokeSession
	for name, c := range map[string]struct {
		request SignedRequest
		action  Action
		call    Call
		at      time.Duration
		want    string
	}{
		"right":                       {issued, action, call, 0, "<nil>"},
		"at the end":                  {issued, action, call, RequestLifetime - time.Microsecond, "<nil>"},
		"expired":                     {issued, action, call, RequestLifetime, "Request-Id expired"},
		"used":                        {used, action, call, 0, "Request-Id already used"},
		"used and expired":            {used, action, otherBody, RequestLifetime, "Request-Id already used"},
		"expired and another body":    {issued, action, otherBody, RequestLifetime, "Request-Id expired"},
		"another body":                {issued, action, otherBody, 0, "Request does not match Request-Id"},
		"another path":                {issued, action, otherPath, 0, "Request does not match Request-Id"},
		"another method":              {issued, action, otherMethod, 0, "Request does not match Request-Id"},
		"another account":             {issued, otherAccount, call, 0, "Request does not match Request-Id"},
		"another platform's account":  {issued, otherPlatform, call, 0, "Request does not match Request-Id"},
		"another operation's request": {issued, otherOperation, call, 0, "Request does not match Request-Id"},
	} {
		if got := reasonOf(c.request.Check(c.action, c.call, noon.Add(c.at))); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestCall_ParseRequestID(t *testing.T) {
	t.Parallel()
	// Both headers are needed, and the id is accepted with its type and without.
	id := ident.NewSignedRequest(ids, noon)
	for name, c := range map[string]struct{ signature, requestID, want string }{
		"with its type":    {"s", id.String(), "<nil>"},
		"without":          {"s", id.UUID().String(), "<nil>"},
		"no signature":     {"", id.String(), "Missing Service-Wallet-Signature"},
		"no request id":    {"s", "", "Missing Request-Id"},
		"another type":     {"s", "Session:" + id.UUID().String(), "Invalid Request-Id"},
		"not a UUID":       {"s", "Request:1", "Invalid Request-Id"},
		"zero":             {"s", "00000000-0000-0000-0000-000000000000", "Invalid Request-Id"},
		"with white space": {"s", " " + id.String(), "Invalid Request-Id"},
	} {
		call := Call{Signature: c.signature, RequestID: c.requestID}
		got, err := call.ParseRequestID()
		if reasonOf(err) != c.want || err == nil && got != id || call.Unsigned() {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
	if !(Call{Method: "POST"}).Unsigned() {
		t.Error("a call without headers is not the first leg")
	}
}

func TestNewSignedRequest_PayloadIsJSON(t *testing.T) {
	t.Parallel()
	// The text to sign names the request whose path has whatever characters, in a fixed order and without
	// spaces, and its fields are read back.
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.String().Draw(t, "path")
		action := Action{Platform: ident.NewPlatform(ids, noon), Account: ident.NewInternalAccount(ids, noon), Operation: ExportWallet}
		r := NewSignedRequest(ident.NewSignedRequest(ids, noon), action, Call{Method: "POST", Path: path, BodyHash: [32]byte{0xab}}, noon)
		var got struct {
			Type, Operation, RequestID, PlatformID, AccountID, Method, Path, BodySHA256, ExpiresAt string
			Version                                                                                int
		}
		if err := json.Unmarshal([]byte(r.Payload), &got); err != nil {
			t.Fatalf("%s: %v", r.Payload, err)
		}
		if got.Type != "REQUEST" || got.Version != 1 || got.Operation != "EXPORT_WALLET" || got.RequestID != r.ID.String() ||
			got.PlatformID != action.Platform.String() ||
			got.AccountID != action.Account.String() || got.Method != "POST" || got.Path != path || got.BodySHA256[:2] != "ab" ||
			got.ExpiresAt != "2026-03-14T12:05:00Z" {
			t.Fatalf("%s is read as %+v", r.Payload, got)
		}
	})

	id, err := ParseRequestID("Request:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6d")
	if err != nil {
		t.Fatal(err)
	}
	var action Action
	action.Platform.SetUUID(uuid.MustParse("0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"))
	action.Account.SetUUID(uuid.MustParse("0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c"))
	action.Operation = RevokeSession
	exact := NewSignedRequest(id, action, Call{Method: "DELETE", Path: "/v1/auth/sessions/Session:1", BodyHash: sha256.Sum256(nil)},
		noon.Add(987*time.Microsecond))
	const want = `{"type":"REQUEST","version":1,"operation":"REVOKE_SESSION","requestId":"Request:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6d",` +
		`"platformId":"PlatformConfig:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b","accountId":"InternalAccount:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c",` +
		`"method":"DELETE","path":"/v1/auth/sessions/Session:1","bodySha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","expiresAt":"2026-03-14T12:05:00Z"}`
	if exact.Payload != want {
		t.Errorf("payload\n%s\nwant\n%s", exact.Payload, want)
	}
}

func TestPasskeyChallenge_Check(t *testing.T) {
	t.Parallel()
	// A challenge is answered once, in time, and for its credential.
	credential := ident.NewAuthMethod(ids, noon)
	c := PasskeyChallenge{Credential: credential, ExpiresAt: noon.Add(PasskeyChallengeLifetime)}
	used := c
	used.UsedAt = noon
	for name, test := range map[string]struct {
		challenge  PasskeyChallenge
		credential ident.AuthMethod
		at         time.Duration
		want       string
	}{
		"right":              {c, credential, 0, "<nil>"},
		"expired":            {c, credential, PasskeyChallengeLifetime, "Request-Id expired"},
		"used":               {used, credential, 0, "Request-Id already used"},
		"another credential": {used, ident.NewAuthMethod(ids, noon), 0, "Invalid Request-Id"},
	} {
		if got := reasonOf(test.challenge.Check(test.credential, noon.Add(test.at))); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
}
