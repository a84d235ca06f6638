package httpapi

import (
	"bytes"
	"context"
	"crypto/sha256"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/wallet"
)

// Operations with SignedRetry are authorized by the owner of an embedded wallet, in two legs. The first
// request has no signature and is answered with 202 and a payload. The client sends the same request again
// with a signature over the payload.

const (
	signatureHeader = "Service-Wallet-Signature"
	requestIDHeader = "Request-Id"

	walletSignature = "WalletSignature" // components of the description
	walletRequestID = "WalletRequestId"
)

// SignedHandler runs one leg of an operation with SignedRetry. It returns the request to sign on the first
// leg, and the result on the second. Operations that need no signature in some cases return their result at once.
type SignedHandler[In, Result any] func(ctx context.Context, call Call, in *In) (Result, *wallet.SignedRequest, error)

// Signed returns the handler of an operation with SignedRetry. A use case that saves the response of the
// first leg passes the *wallet.SignedRequest to Tx.SaveResponse.
func Signed[In, Result any](handle SignedHandler[In, Result]) Handler[In, Result] {
	return func(ctx context.Context, call Call, in *In) (result Result, err error) {
		result, request, err := handle(ctx, call, in)
		if err == nil && request != nil {
			err = &signatureRequired{request}
		}
		return result, err
	}
}

// signatureRequired is the outcome of a first leg.
type signatureRequired struct{ request *wallet.SignedRequest }

func (*signatureRequired) Error() string { return "the request must be signed" }

// signedRequestChallengeBody is the response of a first leg.
type signedRequestChallengeBody struct {
	PayloadToSign string `json:"payloadToSign" doc:"Text to sign, byte for byte as received: do not parse it and serialize it again." example:"{\"type\":\"REQUEST\",\"version\":1}"`
	RequestID     string `json:"requestId" doc:"Value of the header Request-Id of the signed request. It can be used once." example:"Request:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"`
	ExpiresAt     Time   `json:"expiresAt" doc:"Time after which the signed request is refused: 5 minutes after the first one."`
	Type          string `json:"type,omitempty" enum:"EMAIL_OTP,SMS_OTP,PASSKEY,OAUTH" doc:"Type of the credential that the request is about. Present in operations on credentials and sessions."`
}

func renderSignedRequest(out *bytes.Buffer, r *wallet.SignedRequest) (status int, err error) {
	return http.StatusAccepted, encode(out, signedRequestChallengeBody{
		PayloadToSign: r.Payload, RequestID: r.ID.String(), ExpiresAt: NewTime(r.ExpiresAt), Type: string(r.Credential),
	})
}

// respondSignedRequest responds to a first leg.
func (x *exchange) respondSignedRequest(r *wallet.SignedRequest) {
	out := x.buffer()
	out.Reset()
	var err error
	if x.status, err = renderSignedRequest(out, r); err != nil {
		x.respondError(err)
	}
}

// signedCall returns what the signature of a request covers, and the headers of the second leg.
func (x *exchange) signedCall() wallet.Call {
	call := wallet.Call{
		Method: x.r.Method, Path: x.r.URL.EscapedPath(),
		Signature: x.r.Header.Get(signatureHeader), RequestID: x.r.Header.Get(requestIDHeader),
	}
	if x.r.URL.RawQuery != "" {
		call.Path += "?" + x.r.URL.RawQuery
	}
	var body []byte
	if x.body != nil {
		body = x.body.Bytes()
	}
	call.BodyHash = sha256.Sum256(body)
	return call
}

var (
	walletSignatureParameter = &huma.Param{
		Name: signatureHeader, In: "header",
		Description: "Signature over `payloadToSign`, as the section on wallets describes. Only on the second request, together with " +
			"`Request-Id`.",
		Schema: &huma.Schema{Type: huma.TypeString,
			Examples: []any{"MEQCIAy7iYzE3QVbGq0yO1o2pP8uGq1mFZr7mZ3w2xJmJ6PzAiBzv0oYk8q3nqk4mE5rY0xM6u3s3mJ0s0h6v0v4iQm7Wg=="}},
	}
	walletRequestIDParameter = &huma.Param{
		Name: requestIDHeader, In: "header",
		Description: "The `requestId` of the first response. Only on the second request, together with `Service-Wallet-Signature`.",
		Schema:      &huma.Schema{Type: huma.TypeString, Examples: []any{"Request:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"}},
	}
	signatureRequiredOutcome = Outcome{
		Status: http.StatusAccepted, Body: signedRequestChallengeBody{},
		Description: "Nothing has changed yet. Sign `payloadToSign`, and send the same request again with the headers " +
			"`Service-Wallet-Signature` and `Request-Id`.",
	}
)
