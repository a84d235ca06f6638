package api

import (
	"context"

	httpapi "causeway/adapters/http"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/quote"
	"causeway/core/sca"
	"causeway/ports"
)

// QuoteProofs holds the use cases with which payers authorise quotes.
type QuoteProofs interface {
	AuthorizeQuote(ctx context.Context, p ident.Platform, id ident.Quote, answered ident.SCAChallenge, proof sca.Proof,
		idempotent *ports.IdempotentRequest) (quote.WithStatus, error)
	ResendQuoteCode(ctx context.Context, p ident.Platform, id ident.Quote, idempotent *ports.IdempotentRequest) error
}

type scaChallengeBody struct {
	ID             httpapi.ID[ident.SCAChallenge] `json:"id" doc:"Id of the challenge."`
	ExpiresAt      httpapi.Time                   `json:"expiresAt" doc:"Time until which it can be answered."`
	Factor         string                         `json:"factor" enum:"SMS_OTP,TOTP,PASSKEY" doc:"With what it is answered: the code that was sent to the customer's phone, or a passkey."`
	Available      []string                       `json:"availableFactors" enum:"SMS_OTP,TOTP,PASSKEY" doc:"Factors that the customer could use for this. TOTP is never one of a payment, because its codes are not bound to an amount and a payee."`
	Purpose        string                         `json:"purpose,omitempty" doc:"What is authorised: CURRENCY_CONVERSION, PAYOUT, TRANSFER, or TRUST and UNTRUST of a beneficiary." example:"PAYOUT"`
	PasskeyOptions map[string]any                 `json:"passkeyAssertionOptions,omitempty" doc:"PASSKEY only: options for navigator.credentials.get(), in the JSON form of WebAuthn (PublicKeyCredentialRequestOptions)."`
	PasskeyOrigins []string                       `json:"passkeyAllowedOrigins,omitempty" doc:"PASSKEY only: pages on which the passkey can be used." example:"[\"https://app.example.com\"]"`
}

func renderSCAChallenge(c *sca.Asked) *scaChallengeBody {
	if c == nil {
		return nil
	}
	body := &scaChallengeBody{ID: httpapi.NewID(c.ID), ExpiresAt: httpapi.NewTime(c.ExpiresAt), Factor: string(c.Factor),
		Purpose: string(c.Purpose)}
	if c.Passkey != nil {
		body.PasskeyOptions, body.PasskeyOrigins = c.Passkey.Options, c.Passkey.Origins
	}
	for _, f := range c.Available {
		body.Available = append(body.Available, string(f))
	}
	return body
}

// SCAProofRequest is what a customer proves: a code or an assertion.
type SCAProofRequest struct {
	Code      string         `json:"code,omitempty" maxLength:"32" doc:"Code that the customer has received. In the sandbox every code is 123456." example:"123456"`
	Assertion map[string]any `json:"passkeyAssertion,omitempty" doc:"What navigator.credentials.get() has returned, as its toJSON() writes it."`
	Origin    string         `json:"origin,omitempty" maxLength:"255" doc:"Page on which the passkey was used. Required with passkeyAssertion." example:"https://app.example.com"`
}

// proof returns the proof, or INVALID_INPUT unless there is exactly one.
func (r SCAProofRequest) proof() (sca.Proof, error) {
	switch {
	case r.Code != "" && r.Assertion == nil:
		return sca.Proof{Factor: sca.SMSOTP, Code: r.Code}, nil
	case r.Code == "" && r.Assertion != nil && r.Origin != "":
		return sca.Proof{Factor: sca.Passkey, Assertion: assertion(r.Assertion), Origin: r.Origin}, nil
	case r.Assertion != nil && r.Code == "":
		return sca.Proof{}, fault.Invalid(fault.Field{Field: "origin", Message: "is required with passkeyAssertion"})
	default:
		return sca.Proof{}, fault.Invalid(fault.Field{Field: "code",
			Message: "must be the code, or passkeyAssertion with origin be set: one of both"})
	}
}

type quoteAuthorizationRequest struct {
	SCAProofRequest
	ChallengeID httpapi.ID[ident.SCAChallenge] `json:"challengeId,omitzero" doc:"Id of the scaChallenge that is answered. With it an answer that arrives twice, such as after two clicks, is 409 the second time. Without it the second one answers the next challenge, and counts as a failed attempt."`
	IPAddress   string                         `json:"endUserIpAddress,omitempty" maxLength:"45" doc:"IP address of the customer. It is not kept." example:"203.0.113.7"`
}

func registerQuoteProofs(a *httpapi.API, service QuoteProofs) {
	type authorizeInput struct {
		QuoteID httpapi.ID[ident.Quote] `path:"quoteId" doc:"Id of the quote."`
		Body    quoteAuthorizationRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "authorizeQuote", Path: "/quotes/{quoteId}/authorize", Tag: tagQuotes, Summary: "Authorize a quote as its payer",
		Permission: platform.Transact,
		Description: "Gives the answer of the payer to the `scaChallenge` of a quote that is `PENDING_AUTHORIZATION`. Then either the " +
			"quote has " +
			"another `scaChallenge`, for its next purpose; or it is `PENDING` and has its `paymentInstructions`; or, if an account pays, it is " +
			"executed at once. The answer is bound to the amounts, the currencies and the payee of this quote, and is valid for no other.\n\n" +
			"A wrong answer is 400 and counts as a failed attempt: the fifth locks the customer (423). If the payment itself is not " +
			"possible, such " +
			"as without the balance, nothing changes, and the same answer can be given again.",
		Errors: []fault.Code{fault.QuoteNotFound, fault.Conflict, fault.QuoteExpired, fault.QuoteNotExecutable, fault.UserNotReady,
			fault.SCASessionRequired, fault.AccountLocked, fault.InsufficientBalance, fault.AmountOutOfRange, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *authorizeInput) (quote.WithStatus, error) {
		proof, err := in.Body.proof()
		if err != nil {
			return quote.WithStatus{}, err
		}
		return service.AuthorizeQuote(ctx, call.Principal.Platform, in.QuoteID.Value, in.Body.ChallengeID.Value, proof, call.IdempotentRequest)
	}, renderQuote)

	type resendInput struct {
		QuoteID httpapi.ID[ident.Quote] `path:"quoteId" doc:"Id of the quote."`
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "resendQuoteScaCode", Path: "/quotes/{quoteId}/authorize/resend", Tag: tagQuotes, Summary: "Send the code of a quote again",
		Permission: platform.Transact, Status: 204,
		Description: "Sends the payer another code for the open `scaChallenge` of a quote, if its factor is `SMS_OTP`. The codes before " +
			"are no " +
			"longer valid. The challenge expires when it did before.",
		Errors: []fault.Code{fault.QuoteNotFound, fault.Conflict, fault.QuoteExpired, fault.SCASessionRequired,
			fault.AccountLocked, fault.NotImplemented},
	}, func(ctx context.Context, call httpapi.Call, in *resendInput) (struct{}, error) {
		return struct{}{}, service.ResendQuoteCode(ctx, call.Principal.Platform, in.QuoteID.Value, call.IdempotentRequest)
	}, renderNoBody)
}
