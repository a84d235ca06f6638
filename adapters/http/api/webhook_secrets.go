package api

import (
	"context"
	"time"

	httpapi "causeway/adapters/http"
	"causeway/app/webhooks"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// WebhookSecrets holds the use cases of the secrets that sign webhooks.
type WebhookSecrets interface {
	CreateSecret(ctx context.Context, p ident.Platform, by platform.Author, idempotent *ports.IdempotentRequest,
		overlap time.Duration) (webhooks.IssuedSecret, error)
	Secrets(ctx context.Context, p ident.Platform) ([]webhooks.IssuedSecret, error)
	DeleteSecret(ctx context.Context, p ident.Platform, by platform.Author, id ident.WebhookSecret) error
}

type webhookSecretBody struct {
	ID         httpapi.ID[ident.WebhookSecret] `json:"id" doc:"Id of the secret."`
	Secret     string                          `json:"secret,omitempty" doc:"The secret, for the libraries of Standard Webhooks. Returned only when it is created." example:"whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo="`
	CreatedAt  httpapi.Time                    `json:"createdAt" doc:"Time the secret was created."`
	ValidUntil *httpapi.Time                   `json:"validUntil,omitempty" doc:"Time the secret stops being valid. Omitted for the current secret."`
}

type webhookSecretListResponse struct {
	Data []webhookSecretBody `json:"data" doc:"Valid secrets, newest first. Webhooks are signed with each of them."`
}

type webhookSecretCreateRequest struct {
	OverlapSeconds *int64 `json:"overlapSeconds,omitempty" minimum:"0" maximum:"604800" default:"86400" doc:"How long the current secret remains valid, in seconds, at most 7 days. 0 ends it at once." example:"86400"`
}

// overlap returns the overlap of a request, which may have no body.
func (r *webhookSecretCreateRequest) overlap() time.Duration {
	if r == nil || r.OverlapSeconds == nil {
		return platform.DefaultWebhookSecretOverlap
	}
	return time.Duration(*r.OverlapSeconds) * time.Second
}

func renderWebhookSecret(s webhooks.IssuedSecret) webhookSecretBody {
	return webhookSecretBody{ID: httpapi.NewID(s.ID), Secret: s.Text, CreatedAt: httpapi.NewTime(s.CreatedAt),
		ValidUntil: optionalTime(s.ValidUntil)}
}

func registerWebhookSecrets(a *httpapi.API, service WebhookSecrets) {
	type createInput struct{ Body *webhookSecretCreateRequest }
	httpapi.Post(a, httpapi.Operation{
		ID: "createWebhookSecret", Path: "/webhook-secrets", Tag: tagWebhooks, Summary: "Create or rotate the webhook secret",
		Permission: platform.Manage, Status: 201,
		Description: "Creates the secret with which the libraries of Standard Webhooks verify your webhooks: they carry an HMAC signature " +
			"(`v1`) in the header `webhook-signature`. " +
			"If there is a secret already, it remains valid for the overlap, webhooks are signed with both, and you can replace it in your " +
			"endpoint meanwhile. " +
			"At most two secrets are valid at the same time; another one is refused with 409.\n\n" +
			"Only this response contains the secret. A repeated request with the same Idempotency-Key returns it without the secret: if the first " +
			"response was lost, delete the new secret and create another.",
		Errors: []fault.Code{fault.Conflict},
	}, func(ctx context.Context, call httpapi.Call, in *createInput) (webhooks.IssuedSecret, error) {
		return service.CreateSecret(ctx, call.Principal.Platform, call.Author(), call.IdempotentRequest, in.Body.overlap())
	}, renderWebhookSecret)

	httpapi.Get(a, httpapi.Operation{
		ID: "listWebhookSecrets", Path: "/webhook-secrets", Tag: tagWebhooks, Summary: "List webhook secrets", Permission: platform.View,
		Description: "Returns the valid secrets, without the secrets themselves.",
	}, func(ctx context.Context, call httpapi.Call, _ *struct{}) ([]webhooks.IssuedSecret, error) {
		return service.Secrets(ctx, call.Principal.Platform)
	}, func(secrets []webhooks.IssuedSecret) webhookSecretListResponse {
		body := webhookSecretListResponse{Data: make([]webhookSecretBody, len(secrets))}
		for i, s := range secrets {
			body.Data[i] = renderWebhookSecret(s)
		}
		return body
	})

	type deleteInput struct {
		SecretID httpapi.ID[ident.WebhookSecret] `path:"secretId" doc:"Id of the secret."`
	}
	httpapi.Delete(a, httpapi.Operation{
		ID: "deleteWebhookSecret", Path: "/webhook-secrets/{secretId}", Tag: tagWebhooks, Summary: "Delete a webhook secret",
		Permission:  platform.Manage,
		Description: "Ends a secret at once, for example because it became known to others. Webhooks are then signed without it.",
		Errors:      []fault.Code{fault.NotFound},
	}, func(ctx context.Context, call httpapi.Call, in *deleteInput) (struct{}, error) {
		return struct{}{}, service.DeleteSecret(ctx, call.Principal.Platform, call.Author(), in.SecretID.Value)
	}, renderNoBody)
}
