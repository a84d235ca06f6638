package api

import (
	"context"

	"github.com/danielgtaylor/huma/v2"

	httpapi "causeway/adapters/http"
	"causeway/app/authentication"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/core/wallet"
	"causeway/ports"
)

// Authentication holds the use cases of strong customer authentication.
type Authentication interface {
	Factors(ctx context.Context, p ident.Platform, id ident.Customer) ([]sca.Credential, error)
	Enroll(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
		f sca.Factor) (authentication.Enrollment, error)
	Confirm(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
		c authentication.Confirmation) (authentication.Enrolled, error)
	DeleteFactor(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
		credential ident.SCACredential) error
	StartLogin(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer, f sca.Factor) (sca.Asked, error)
	CompleteLogin(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
		l authentication.Login) (sca.Session, error)
	RecordEvent(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer, event string) (sca.Account, error)
	StartReset(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
		f sca.Factor) (authentication.Reset, error)
	Reset(ctx context.Context, p ident.Platform, id ident.Customer, reset ident.SCAReset) (authentication.Reset, error)
	CompleteReset(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer, reset ident.SCAReset,
		phoneNumber string) error
}

// SCAFactor is the name of a factor.
type SCAFactor string

// Schema returns the enum of values.
func (SCAFactor) Schema(huma.Registry) *huma.Schema {
	schema := enumSchema([]sca.Factor{sca.SMSOTP, sca.TOTP, sca.Passkey})
	schema.Description, schema.Examples = "With what the customer proves who it is.", []any{string(sca.SMSOTP)}
	return schema
}

// SCACustomer names the customer who is authenticated.
type SCACustomer struct {
	CustomerID httpapi.ID[ident.Customer] `query:"customerId" required:"true" doc:"Id of the customer."`
}

type scaFactorView struct {
	Factor       SCAFactor                       `json:"factor"`
	CredentialID httpapi.ID[ident.SCACredential] `json:"credentialId,omitzero" doc:"Id with which the factor is deleted. Omitted for SMS_OTP, which belongs to the phone."`
	Name         string                          `json:"name,omitempty" doc:"Name of the factor for people." example:"Passkey"`
}

func renderFactor(c sca.Credential) scaFactorView {
	names := map[sca.Factor]string{sca.SMSOTP: "Text message", sca.TOTP: "Authenticator application", sca.Passkey: "Passkey"}
	return scaFactorView{SCAFactor(c.Factor), httpapi.NewID(c.ID), names[c.Factor]}
}

type scaFactorList struct {
	Factors []scaFactorView `json:"factors" doc:"Factors that the customer can use."`
}

// object is a JSON object that is passed on as it is.
var object = &huma.Schema{Type: huma.TypeObject, AdditionalProperties: &huma.Schema{}}

// relyingPartyFields say to a page how a passkey is made or used.
var relyingPartyFields = []httpapi.Field{
	{Name: "options", Required: true, Schema: object, Description: "PublicKeyCredentialCreationOptions, as " +
		"PublicKeyCredential.parseCreationOptionsFromJSON() takes them."},
	{Name: "allowedOrigins", Required: true, Schema: &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}},
		Description: "Origins of the pages whose passkeys are accepted: `embeddedWalletConfig.passkeyOrigins`."},
	{Name: "relyingPartyId", Required: true, Description: "Domain of the passkeys: `embeddedWalletConfig.passkeyRpId`.",
		Example: "example.com"},
}

// scaEnrollRequest, scaEnrollStart, scaConfirmRequest and scaConfirmResponse have a branch for each factor that is enrolled.
type (
	scaEnrollRequest   struct{}
	scaEnrollStart     struct{}
	scaConfirmRequest  struct{}
	scaConfirmResponse struct{}
)

func enrollUnion(name, description, totpName string, totp []httpapi.Field, passkeyName string, passkey []httpapi.Field) httpapi.UnionSpec {
	return httpapi.UnionSpec{Name: name, Description: description, Discriminator: "type", Branches: []httpapi.Branch{
		{Name: totpName, Description: "An application that shows codes (RFC 6238).", Values: []string{string(sca.TOTP)}, Fields: totp},
		{Name: passkeyName, Description: "A passkey (WebAuthn).", Values: []string{string(sca.Passkey)}, Fields: passkey},
	}}
}

// Union implements httpapi.UnionTable.
func (scaEnrollRequest) Union() httpapi.UnionSpec {
	return enrollUnion("ScaFactorEnrollRequest", "The factor to enroll.", "TotpFactorEnrollRequest", nil, "PasskeyFactorEnrollRequest", nil)
}

// Union implements httpapi.UnionTable.
func (scaEnrollStart) Union() httpapi.UnionSpec {
	return enrollUnion("ScaFactorEnrollStart", "What the customer needs to enroll the factor.", "TotpEnrollmentStart", []httpapi.Field{
		{Name: "secret", Required: true, Description: "Secret, to send back with the first code.", Example: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"},
		{Name: "secretBase32Encoded", Required: true, Description: "The secret as people type it into an application: in base32.",
			Example: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"},
		{Name: "totpUri", Required: true, Description: "The secret as a QR code shows it to an application.",
			Example: "otpauth://totp/Acme:ana@example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Acme"},
	}, "PasskeyEnrollmentStart", relyingPartyFields)
}

// Union implements httpapi.UnionTable.
func (scaConfirmRequest) Union() httpapi.UnionSpec {
	return enrollUnion("ScaFactorConfirmRequest", "Proof that the customer has the factor.", "TotpEnrollmentConfirmRequest", []httpapi.Field{
		{Name: "secret", Required: true, MaxLength: 64, Description: "The secret.", Example: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"},
		{Name: "code", Required: true, MaxLength: 16, Description: "The code that the application shows now.", Example: "123456"},
	}, "PasskeyEnrollmentConfirmRequest", []httpapi.Field{
		{Name: "origin", Required: true, MaxLength: 300, Description: "Origin of the page on which the passkey was made.",
			Example: "https://app.example.com"},
		{Name: "credential", Required: true, Schema: object, Description: "What navigator.credentials.create() returned, as its toJSON() " +
			"writes it."},
	})
}

// Union implements httpapi.UnionTable.
func (scaConfirmResponse) Union() httpapi.UnionSpec {
	return enrollUnion("ScaFactorConfirmResponse", "The factor is enrolled.", "TotpEnrollmentConfirmResponse", []httpapi.Field{
		{Name: "recoveryCodes", Required: true, Schema: &huma.Schema{Type: huma.TypeArray, Items: &huma.Schema{Type: huma.TypeString}},
			Description: "Codes for the customer to keep: each is accepted once in place of a code of the application. They are shown once."},
	}, "PasskeyEnrollmentConfirmResponse", []httpapi.Field{
		{Name: "factor", Required: true, Description: "The factor.", Fields: []httpapi.Field{
			{Name: "factor", Required: true, Enum: []string{string(sca.Passkey)}, Description: "Always PASSKEY."},
			{Name: "credentialId", Description: "Id with which the factor is deleted."},
			{Name: "name", Description: "Name of the factor for people."},
		}},
	})
}

func renderEnrollment(e authentication.Enrollment) httpapi.Union[scaEnrollStart] {
	values := map[string]any{"type": e.Factor}
	if e.Passkey != nil {
		values["options"], values["allowedOrigins"], values["relyingPartyId"] = e.Passkey.Options, e.Passkey.Origins, e.Passkey.ID
	} else {
		values["secret"], values["secretBase32Encoded"], values["totpUri"] = e.TOTPSecret, e.TOTPSecret, e.TOTPURI
	}
	return httpapi.NewUnion[scaEnrollStart](values)
}

func renderEnrolled(e authentication.Enrolled) httpapi.Union[scaConfirmResponse] {
	values := map[string]any{"type": e.Factor}
	if e.Factor == sca.Passkey {
		values["factor"] = renderFactor(e.Credential)
	} else {
		values["recoveryCodes"] = e.RecoveryCodes
	}
	return httpapi.NewUnion[scaConfirmResponse](values)
}

// attestation reads a new passkey from what a browser wrote.
func attestation(credential map[string]any) wallet.Attestation {
	response, _ := credential["response"].(map[string]any)
	made := wallet.Attestation{CredentialID: text(credential, "rawId"), ClientDataJSON: text(response, "clientDataJSON"),
		AttestationObject: text(response, "attestationObject")}
	listed, _ := response["transports"].([]any)
	for _, t := range listed {
		if name, ok := t.(string); ok && len(made.Transports) < len(transports) {
			made.Transports = append(made.Transports, name)
		}
	}
	return made
}

// assertion reads the proof of a passkey from what a browser wrote.
func assertion(credential map[string]any) wallet.Assertion {
	response, _ := credential["response"].(map[string]any)
	return wallet.Assertion{CredentialID: text(credential, "rawId"), ClientDataJSON: text(response, "clientDataJSON"),
		AuthenticatorData: text(response, "authenticatorData"), Signature: text(response, "signature"), UserHandle: text(response, "userHandle")}
}

func registerSCAFactors(a *httpapi.API, service Authentication) {
	httpapi.Get(a, httpapi.Operation{
		ID: "listScaFactors", Path: "/sca/factors", Tag: tagSCA, Summary: "List the factors of a customer", Permission: platform.View,
		Description: "Returns what the customer can use: SMS_OTP if its phone is verified, and what it has enrolled.",
		Errors:      scaErrors,
	}, func(ctx context.Context, call httpapi.Call, in *SCACustomer) ([]sca.Credential, error) {
		return service.Factors(ctx, call.Principal.Platform, in.CustomerID.Value)
	}, func(factors []sca.Credential) scaFactorList { return scaFactorList{renderList(factors, renderFactor)} })

	type enrollInput struct {
		SCACustomer
		Body httpapi.Union[scaEnrollRequest]
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "startScaFactorEnrollment", Path: "/sca/factors", Tag: tagSCA, Summary: "Start the enrollment of a factor",
		Permission: platform.Transact,
		Description: "Returns what the customer needs to enroll an authenticator application or a passkey. Confirm it within 10 minutes. A " +
			"customer has one of each. Authenticate the customer yourself before.",
		Errors: append([]fault.Code{fault.PasskeyAlreadyEnrolled}, scaErrors...),
	}, func(ctx context.Context, call httpapi.Call, in *enrollInput) (authentication.Enrollment, error) {
		return service.Enroll(ctx, call.Principal.Platform, call.IdempotentRequest, in.CustomerID.Value, sca.Factor(in.Body.Text("type")))
	}, renderEnrollment)

	type confirmInput struct {
		SCACustomer
		Body httpapi.Union[scaConfirmRequest]
	}
	httpapi.Post(a, httpapi.Operation{
		ID: "confirmScaFactorEnrollment", Path: "/sca/factors/confirm", Tag: tagSCA, Summary: "Confirm the enrollment of a factor",
		Permission:  platform.Transact,
		Description: "Enrolls the factor that was started last. An authenticator application has recovery codes, which are returned once.",
		Errors:      append([]fault.Code{fault.PasskeyAlreadyEnrolled}, scaErrors...),
	}, func(ctx context.Context, call httpapi.Call, in *confirmInput) (authentication.Enrolled, error) {
		credential, _ := in.Body.Values()["credential"].(map[string]any)
		return service.Confirm(ctx, call.Principal.Platform, call.IdempotentRequest, in.CustomerID.Value, authentication.Confirmation{
			Factor: sca.Factor(in.Body.Text("type")), Secret: in.Body.Text("secret"), Code: in.Body.Text("code"),
			Attestation: attestation(credential), Origin: in.Body.Text("origin")})
	}, renderEnrolled)

	type credentialInput struct {
		SCACustomer
		CredentialID httpapi.ID[ident.SCACredential] `path:"credentialId" doc:"Id of the credential of the factor."`
	}
	httpapi.Delete(a, httpapi.Operation{
		ID: "deleteScaFactor", Path: "/sca/factors/{credentialId}", Tag: tagSCA, Summary: "Delete a factor", Permission: platform.Transact,
		Description: "Removes an enrolled factor, and ends the sessions that it has opened.",
		Errors:      append([]fault.Code{fault.CredentialNotFound}, scaErrors...),
	}, func(ctx context.Context, call httpapi.Call, in *credentialInput) (struct{}, error) {
		return struct{}{}, service.DeleteFactor(ctx, call.Principal.Platform, call.IdempotentRequest, in.CustomerID.Value, in.CredentialID.Value)
	}, func(struct{}) httpapi.NoBody { return httpapi.NoBody{} })
}

// scaErrors are those of every operation about a customer's authentication.
var scaErrors = []fault.Code{fault.UserNotFound, fault.CustomerDeleted, fault.Conflict}
