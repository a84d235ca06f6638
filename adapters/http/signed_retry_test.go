package httpapi

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/wallet"
	"causeway/ports"
)

var signedRequest = wallet.SignedRequest{
	ID:      must(ident.SignedRequest{}.Parse("Request:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b")),
	Payload: `{"type":"REQUEST","note":"<&>"}`, Credential: wallet.Passkey,
	ExpiresAt: time.Date(2026, 11, 22, 18, 5, 0, 0, time.UTC),
}

// signedFixture has operations with SignedRetry that return a parcel of the weight of their run if the call is
// signed. It keeps the calls.
type signedFixture struct {
	*fixture
	calls []wallet.Call
	save  bool // as a use case does that saves its response in its commit
}

func newSignedFixture(t *testing.T) *signedFixture {
	f := &signedFixture{fixture: newUnbuiltFixture(t)}
	handle := func(ctx context.Context, call Call, _ *sendParcel) (parcel, *wallet.SignedRequest, error) {
		f.calls = append(f.calls, call.Signed)
		result := parcel{ID: parcelID, To: receiverID, Weight: int64(len(f.calls))}
		first := call.Signed.Signature == ""
		if f.save {
			var saved any = result
			if first {
				saved = &signedRequest
			}
			response := ports.StoredResponse{Fingerprint: call.IdempotentRequest.Fingerprint}
			response.Status, response.Body = call.IdempotentRequest.Render(saved, nil)
			if err := f.store.Save(ctx, *call.IdempotentRequest, response); err != nil {
				return parcel{}, nil, err
			}
		}
		if first {
			return parcel{}, &signedRequest, nil
		}
		return result, nil, nil
	}
	op := Operation{ID: "sealParcel", Path: "/parcels/seal", Summary: "Seal a parcel", Tag: "Parcels", Permission: platform.Transact,
		Status: 201, SignedRetry: true}
	Post(f.API, op, Signed(handle), renderParcel)
	op.ID, op.Status = "changeSeal", 200
	Patch(f.API, op, Signed(handle), renderParcel)
	op.ID, op.Status = "breakSeal", 204
	Delete(f.API, op, func(ctx context.Context, call Call, _ *struct{}) (parcel, error) {
		return Signed(handle)(ctx, call, nil)
	}, func(parcel) NoBody { return NoBody{} })
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	return f
}

func signedWith(signature, requestID string) requestOption {
	return func(r *http.Request) {
		r.Header.Set("Service-Wallet-Signature", signature)
		r.Header.Set("Request-Id", requestID)
	}
}

func TestSignedRetry_FirstLegReturnsPayloadAndSecondResult(t *testing.T) {
	t.Parallel()
	// Without a signature, the response is 202 with the text to sign, byte for byte; with one, the
	// operation's own. Both legs have the same fingerprint.
	f := newSignedFixture(t)

	first := f.do("POST", "/parcels/seal?via=Bonn", validParcel)
	second := f.do("POST", "/parcels/seal?via=Bonn", validParcel, signedWith("signature", signedRequest.ID.String()))

	var challenge map[string]string
	if err := json.Unmarshal([]byte(first.body), &challenge); err != nil {
		t.Fatal(err)
	}
	if first.status != 202 || len(challenge) != 4 || challenge["payloadToSign"] != signedRequest.Payload ||
		challenge["requestId"] != signedRequest.ID.String() ||
		challenge["expiresAt"] != "2026-11-22T18:05:00.000Z" || challenge["type"] != "PASSKEY" {
		t.Errorf("first leg: %d %s", first.status, first.body)
	}
	if second.status != 201 || !strings.Contains(second.body, `"weight":2`) {
		t.Errorf("second leg: %d %s", second.status, second.body)
	}
	want := wallet.Call{Method: "POST", Path: BasePath + "/parcels/seal?via=Bonn", BodyHash: sha256.Sum256([]byte(validParcel))}
	if f.calls[0] != want || f.calls[0].Fingerprint() != f.calls[1].Fingerprint() {
		t.Errorf("calls: %+v", f.calls)
	}
	if f.calls[1].Signature != "signature" || f.calls[1].RequestID != signedRequest.ID.String() {
		t.Errorf("headers of the second leg: %q %q", f.calls[1].Signature, f.calls[1].RequestID)
	}

	if got := f.do("DELETE", "/parcels/seal", ""); got.status != 202 || !strings.Contains(got.body, "payloadToSign") {
		t.Errorf("first leg of DELETE: %d %s", got.status, got.body)
	}
	if got := f.do("DELETE", "/parcels/seal", "", signedWith("signature", signedRequest.ID.String())); got.status != 204 || got.body != "" {
		t.Errorf("second leg of DELETE: %d %s", got.status, got.body)
	}
	if last := f.calls[len(f.calls)-1]; last.BodyHash != sha256.Sum256(nil) {
		t.Errorf("hash of no body: %x", last.BodyHash)
	}
}

func TestSignedRetry_FingerprintCoversExactBytes(t *testing.T) {
	t.Parallel()
	// Another method, path, query or body is another call, also if only white space in the body differs.
	f := newSignedFixture(t)

	f.do("POST", "/parcels/seal", validParcel)
	f.do("POST", "/parcels/seal", validParcel+" ")
	f.do("POST", "/parcels/seal?via=Bonn", validParcel)
	f.do("PATCH", "/parcels/seal", validParcel)

	seen := map[[sha256.Size]byte]bool{}
	for _, call := range f.calls {
		seen[call.Fingerprint()] = true
	}
	if len(f.calls) != 4 || len(seen) != 4 {
		t.Errorf("%d fingerprints of %d calls", len(seen), len(f.calls))
	}
}

func TestSignedRetry_LegsNeedDifferentIdempotencyKeys(t *testing.T) {
	t.Parallel()
	// Each leg is replayed under its own key, whether the use case or the server saves the response. The key
	// of the first leg is refused for the second, and for another signature.
	for _, save := range []bool{false, true} {
		f := newSignedFixture(t)
		f.save = save
		signed := signedWith("signature", signedRequest.ID.String())

		for name, send := range map[string]func() reply{
			"first leg":  func() reply { return f.do("POST", "/parcels/seal", validParcel, withKey("k1")) },
			"second leg": func() reply { return f.do("POST", "/parcels/seal", validParcel, withKey("k2"), signed) },
		} {
			before := len(f.calls)
			once, again := send(), send()
			if once.status/100 != 2 || again.status != once.status || again.body != once.body || again.header.Get("Idempotent-Replayed") != "true" ||
				len(f.calls) != before+1 {
				t.Errorf("save %v, %s: %d %s, then %d %s", save, name, once.status, once.body, again.status, again.body)
			}
		}
		before := len(f.calls)
		for name, got := range map[string]reply{
			"key of the first leg": f.do("POST", "/parcels/seal", validParcel, withKey("k1"), signed),
			"other signature":      f.do("POST", "/parcels/seal", validParcel, withKey("k2"), signedWith("other", signedRequest.ID.String())),
			"other request id":     f.do("POST", "/parcels/seal", validParcel, withKey("k2"), signedWith("signature", uuid.NewString())),
		} {
			if got.status != 422 || !strings.Contains(got.error.Message, "another key than the request without a signature") {
				t.Errorf("save %v, %s: %d %s", save, name, got.status, got.body)
			}
		}
		if len(f.calls) != before {
			t.Errorf("save %v: a refused request ran", save)
		}
	}
}

func TestSignedRetry_HeadersMeanNothingElsewhere(t *testing.T) {
	t.Parallel()
	// Other operations do not get the headers, and their idempotency keys ignore them.
	f := newFixture(t)
	f.handler = func(_ context.Context, call Call, _ *sendParcel) (parcel, error) {
		if call.Signed != (wallet.Call{}) {
			t.Errorf("got %+v", call.Signed)
		}
		return parcel{ID: parcelID, To: receiverID}, nil
	}

	f.do("POST", "/parcels", validParcel, withKey("k"))
	again := f.do("POST", "/parcels", validParcel, withKey("k"), signedWith("signature", uuid.NewString()))

	if again.status != 201 || again.header.Get("Idempotent-Replayed") != "true" {
		t.Errorf("got %d %s", again.status, again.body)
	}
}

func TestSignedRetry_IsDescribed(t *testing.T) {
	t.Parallel()
	// The description of an operation has both headers and the response of the first leg, and so has the
	// reference page.
	f := newSignedFixture(t)
	var document map[string]any
	if err := json.Unmarshal([]byte(f.do("GET", "/openapi.json", "").body), &document); err != nil {
		t.Fatal(err)
	}

	for _, method := range []string{"post", "patch", "delete"} {
		op := lookup(document, "paths", "/parcels/seal", method)
		if schema := jsonText(lookup(op, "responses", "202", "content", "application/json",
			"schema")); schema != `{"$ref":"#/components/schemas/SignedRequestChallenge"}` {
			t.Errorf("%s: 202 is %s", method, schema)
		}
		parameters := jsonText(lookup(op, "parameters"))
		for _, name := range []string{"WalletSignature", "WalletRequestId"} {
			if !strings.Contains(parameters, `{"$ref":"#/components/parameters/`+name+`"}`) {
				t.Errorf("%s: parameters %s", method, parameters)
			}
		}
	}
	if name := lookup(document, "components", "parameters", "WalletSignature", "name"); name != "Service-Wallet-Signature" {
		t.Errorf("WalletSignature is %v", name)
	}
	page := f.do("GET", "/docs", "").body
	if headers := strings.Count(page, `<code class="name">Service-Wallet-Signature</code>`); headers != 3 ||
		!strings.Contains(page, "Nothing has changed yet. Sign <code>payloadToSign</code>") {
		t.Errorf("the page shows %d headers, want 3, and what to do after 202", headers)
	}
	required := jsonText(lookup(document, "components", "schemas", "SignedRequestChallenge", "required"))
	for _, field := range []string{"payloadToSign", "requestId", "expiresAt"} {
		if !strings.Contains(required, field) {
			t.Errorf("required: %s", required)
		}
	}
}
