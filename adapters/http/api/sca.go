package api

import (
	"context"
	"strings"
	"time"

	httpapi "causeway/adapters/http"
	"causeway/app/authentication"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/sca"
)

const tagSCA = "Strong customer authentication"

const scaGuide = "How customers of the European Economic Area and the United Kingdom prove who they are (PSD2): factors, logins that " +
	"open a session, and resets of lost factors. Other customers are answered with 409 `CONFLICT`. The operator can name other regions."

type scaLoginStartRequest struct {
	Factor SCAFactor `json:"factor"`
}

type scaLoginStart struct {
	Factor         SCAFactor                      `json:"factor"`
	ChallengeID    httpapi.ID[ident.SCAChallenge] `json:"challengeId,omitzero" doc:"SMS_OTP and PASSKEY: id of the challenge."`
	ExpiresAt      httpapi.Time                   `json:"expiresAt,omitzero" doc:"SMS_OTP and PASSKEY: time after which the challenge is refused."`
	PasskeyOptions map[string]any                 `json:"passkeyOptions,omitempty" doc:"PASSKEY: PublicKeyCredentialRequestOptions, as PublicKeyCredential.parseRequestOptionsFromJSON() takes them."`
	AllowedOrigins []string                       `json:"allowedOrigins,omitempty" doc:"PASSKEY: origins of the pages whose passkeys are accepted."`
	RelyingPartyID string                         `json:"relyingPartyId,omitempty" doc:"PASSKEY: domain of the passkeys." example:"example.com"`
}

func renderLoginStart(asked sca.Asked) scaLoginStart {
	body := scaLoginStart{Factor: SCAFactor(asked.Factor), ChallengeID: httpapi.NewID(asked.ID), ExpiresAt: httpapi.NewTime(asked.ExpiresAt)}
	if asked.Passkey != nil {
		body.PasskeyOptions, body.AllowedOrigins, body.RelyingPartyID = asked.Passkey.Options, asked.Passkey.Origins, asked.Passkey.ID
	}
	return body
}

type scaLoginCompleteRequest struct {
	Factor           SCAFactor                      `json:"factor"`
	EndUserIPAddress string                         `json:"endUserIpAddress" maxLength:"45" doc:"IPv4 or IPv6 address of the customer." example:"203.0.113.7"`
	ChallengeID      httpapi.ID[ident.SCAChallenge] `json:"challengeId,omitzero" doc:"Id of the challenge. Required for SMS_OTP."`
	Code             string                         `json:"code,omitempty" maxLength:"64" doc:"SMS_OTP: the code that was sent last. TOTP: the code that the application shows, or a recovery code." example:"123456"`
	PasskeyAssertion map[string]any                 `json:"passkeyAssertion,omitempty" doc:"PASSKEY: what navigator.credentials.get() returned, as its toJSON() writes it."`
	Origin           string                         `json:"origin,omitempty" maxLength:"300" doc:"PASSKEY: origin of the page on which it was used." example:"https://app.example.com"`
}

type scaLoginComplete struct {
	Status           string       `json:"status" enum:"COMPLETED" doc:"Always COMPLETED." example:"COMPLETED"`
	SessionExpiresAt httpapi.Time `json:"sessionExpiresAt,omitzero" doc:"Time until which the customer may start payments."`
}

type scaEventRequest struct {
	EventType string `json:"eventType" enum:"FAILED_LOGIN_ATTEMPT,RESET_PASSWORD_COMPLETED" doc:"What has happened." example:"FAILED_LOGIN_ATTEMPT"`
}

type scaEventResponse struct {
	EventType      string       `json:"eventType" enum:"FAILED_LOGIN_ATTEMPT,RESET_PASSWORD_COMPLETED" doc:"What was recorded."`
	Suspended      bool         `json:"suspended" doc:"Whether the customer is locked until its password was reset."`
	LockedUntil    httpapi.Time `json:"lockedUntil,omitzero" doc:"Time until which the customer is locked."`
	FailedAttempts int          `json:"failedAttempts" doc:"Failed attempts that count." example:"1"`
}

func renderSCAEvent(a sca.Account) scaEventResponse {
	body := scaEventResponse{EventType: authentication.FailedLogin, Suspended: !a.SuspendedAt.IsZero(), FailedAttempts: a.Failures.Total()}
	if body.LockedUntil = httpapi.NewTime(a.LockedUntil); body.FailedAttempts == 0 {
		body.EventType = authentication.PasswordReset
	}
	return body
}

func registerSCA(a *httpapi.API, service Authentication) {
	registerSCAFactors(a, service)

	type startInput struct {
		SCACustomer
		Body scaLoginStartRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "startScaLogin", Path: "/sca/login/start", Tag: tagSCA, Summary: "Start a login", Permission: platform.Transact,
		Description: "Sends a code to the phone (SMS_OTP), or returns what a passkey has to sign. TOTP needs no challenge. Only the latest " +
			"challenge counts, for 10 minutes. Up to 5 codes can be sent at once, then one in 15 seconds, and 10 in an hour: 429.",
		Errors: append([]fault.Code{fault.NotImplemented}, scaErrors...),
	}, func(ctx context.Context, call httpapi.Call, in *startInput) (sca.Asked, error) {
		return service.StartLogin(ctx, call.Principal.Platform, call.IdempotentRequest, in.CustomerID.Value, sca.Factor(in.Body.Factor))
	}, renderLoginStart)

	type completeInput struct {
		SCACustomer
		Body scaLoginCompleteRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "completeScaLogin", Path: "/sca/login/complete", Tag: tagSCA, Summary: "Complete a login", Permission: platform.Transact,
		Description: "Opens a session of 180 days, which a customer needs to move money. A wrong proof is 400 and counts as a failed attempt: " +
			"the fifth locks the customer for 15 minutes, the sixth for 30, the seventh for an hour, the eighth for a day, and the ninth suspends " +
			"it. A locked customer is 423 `ACCOUNT_LOCKED`, whatever it presents.",
		Errors: append([]fault.Code{fault.AccountLocked}, scaErrors...),
	}, func(ctx context.Context, call httpapi.Call, in *completeInput) (sca.Session, error) {
		return service.CompleteLogin(ctx, call.Principal.Platform, call.IdempotentRequest, in.CustomerID.Value, authentication.Login{
			Challenge: in.Body.ChallengeID.Value, IPAddress: in.Body.EndUserIPAddress,
			Proof: sca.Proof{Factor: sca.Factor(in.Body.Factor), Code: in.Body.Code, Assertion: assertion(in.Body.PasskeyAssertion),
				Origin: in.Body.Origin}})
	}, func(s sca.Session) scaLoginComplete {
		return scaLoginComplete{"COMPLETED", httpapi.NewTime(s.ExpiresAt)}
	})

	type eventInput struct {
		SCACustomer
		Body scaEventRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "recordSecurityEvent", Path: "/sca/record-event", Tag: tagSCA, Summary: "Record a security event", Permission: platform.Transact,
		Description: "FAILED_LOGIN_ATTEMPT: a login at your platform has failed, such as with a wrong password. It counts as a wrong proof " +
			"does; 423 `ACCOUNT_LOCKED` if the customer was locked already. RESET_PASSWORD_COMPLETED: ends all sessions of the customer, clears " +
			"the counter and lifts a lock or suspension.",
		Errors: append([]fault.Code{fault.AccountLocked}, scaErrors...),
	}, func(ctx context.Context, call httpapi.Call, in *eventInput) (sca.Account, error) {
		return service.RecordEvent(ctx, call.Principal.Platform, call.IdempotentRequest, in.CustomerID.Value, in.Body.EventType)
	}, renderSCAEvent)

	registerSCAResets(a, service)
}

type twoFactorResetStartRequest struct {
	Factor SCAFactor `json:"factor"`
}

type twoFactorResetStart struct {
	ResetID             httpapi.ID[ident.SCAReset] `json:"resetId" doc:"Id of the reset."`
	LivenessAccessToken string                     `json:"livenessAccessToken,omitempty" doc:"Token for the SDK of a provider of the check. Omitted if operators check."`
	VerificationLink    string                     `json:"verificationLink,omitempty" doc:"Page of the check. Omitted if operators check."`
	ExpiresAt           httpapi.Time               `json:"expiresAt,omitzero" doc:"Time after which the reset cannot be completed."`
}

// SCAResetPath names a reset of a customer.
type SCAResetPath struct {
	SCACustomer
	ResetID httpapi.ID[ident.SCAReset] `path:"resetId" doc:"Id of the reset."`
}

type twoFactorResetStatus struct {
	Status           string       `json:"status" enum:"INITIATED,PENDING_REVIEW,LIVENESS_PASSED,COMPLETED,REJECTED,EXPIRED" doc:"Status of the reset." example:"LIVENESS_PASSED"`
	Factor           SCAFactor    `json:"factor"`
	EnrollmentStatus string       `json:"enrollmentStatus,omitempty" enum:"PENDING,COMPLETED" doc:"Once the reset is completed: whether the customer has the factor again." example:"PENDING"`
	ExpiresAt        httpapi.Time `json:"expiresAt" doc:"Time after which the reset cannot be completed."`
	CompletedAt      httpapi.Time `json:"completedAt,omitzero" doc:"Time of the completion."`
}

func renderReset(r authentication.Reset) twoFactorResetStatus {
	body := twoFactorResetStatus{Status: string(r.Status), Factor: SCAFactor(r.Factor), ExpiresAt: httpapi.NewTime(r.ExpiresAt),
		CompletedAt: httpapi.NewTime(r.CompletedAt)}
	if r.CompletedAt != (time.Time{}) {
		body.EnrollmentStatus = map[bool]string{false: "PENDING", true: "COMPLETED"}[r.Enrolled]
	}
	return body
}

type twoFactorResetCompleteRequest struct {
	Mobile *mobileNumber `json:"mobile,omitempty" doc:"New number of the customer. Required to reset SMS_OTP."`
}

type mobileNumber struct {
	CountryCode string `json:"countryCode" pattern:"^\\+?[1-9][0-9]{0,2}$" patternDescription:"a calling code such as +44" doc:"Calling code of the country." example:"+44"`
	Number      string `json:"number" pattern:"^[0-9]{4,14}$" patternDescription:"4 to 14 digits" doc:"Number without the calling code." example:"7700900123"`
}

func registerSCAResets(a *httpapi.API, service Authentication) {
	type startInput struct {
		SCACustomer
		Body twoFactorResetStartRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "startTwoFactorReset", Path: "/sca/factors/reset", Tag: tagSCA, Summary: "Start the reset of a factor", Status: 201,
		Permission: platform.Transact,
		Description: "For a customer who has lost a factor. The check whether it is the customer comes first; ask for the status, and complete " +
			"the reset within 24 hours. A customer can start 5 in 24 hours: 429.",
		Errors: scaErrors,
	}, func(ctx context.Context, call httpapi.Call, in *startInput) (authentication.Reset, error) {
		return service.StartReset(ctx, call.Principal.Platform, call.IdempotentRequest, in.CustomerID.Value, sca.Factor(in.Body.Factor))
	}, func(r authentication.Reset) twoFactorResetStart {
		return twoFactorResetStart{ResetID: httpapi.NewID(r.ID), ExpiresAt: httpapi.NewTime(r.ExpiresAt)}
	})

	httpapi.Get(a, httpapi.Operation{
		ID: "getTwoFactorResetStatus", Path: "/sca/factors/reset/{resetId}", Tag: tagSCA, Summary: "Get the status of a reset",
		Permission: platform.View,
		Description: "INITIATED, PENDING_REVIEW (an operator looks at it), LIVENESS_PASSED (it can be completed), COMPLETED, REJECTED or " +
			"EXPIRED.",
		Errors: append([]fault.Code{fault.ReferenceNotFound}, scaErrors...),
	}, func(ctx context.Context, call httpapi.Call, in *SCAResetPath) (authentication.Reset, error) {
		return service.Reset(ctx, call.Principal.Platform, in.CustomerID.Value, in.ResetID.Value)
	}, renderReset)

	type completeInput struct {
		SCAResetPath
		Body *twoFactorResetCompleteRequest
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "completeTwoFactorReset", Path: "/sca/factors/reset/{resetId}/complete", Tag: tagSCA, Summary: "Complete the reset of a factor",
		Permission: platform.Transact, Status: 204,
		Description: "Removes the factor and ends all sessions of the customer, who then enrolls the factor anew. For SMS_OTP send the new " +
			"number, which the customer verifies. 400 before the status is LIVENESS_PASSED.",
		Errors: append([]fault.Code{fault.ReferenceNotFound}, scaErrors...),
	}, func(ctx context.Context, call httpapi.Call, in *completeInput) (struct{}, error) {
		number := ""
		if in.Body != nil && in.Body.Mobile != nil {
			number = "+" + strings.TrimPrefix(in.Body.Mobile.CountryCode, "+") + in.Body.Mobile.Number
		}
		return struct{}{}, service.CompleteReset(ctx, call.Principal.Platform, call.IdempotentRequest, in.CustomerID.Value, in.ResetID.Value,
			number)
	}, func(struct{}) httpapi.NoBody { return httpapi.NoBody{} })
}
