package outbox

import (
	"causeway/adapters/postgres/schema"
	"causeway/core/platform"
	"causeway/ports"
)

// endpointColumns are the columns of platforms, as p, for endpointFields.
const endpointColumns = `p.id, p.webhook_endpoint, p.environment, p.webhook_signatures, p.webhook_secrets_version`

// endpointFields returns what to scan endpointColumns into.
func endpointFields(e *ports.Endpoint) []any {
	return []any{&e.Platform, &e.URL, &e.Environment,
		schema.Converted(
			func() []string { return e.Signatures.Names() },
			func(names []string) error {
				e.Signatures, _ = platform.ParseWebhookSignatures(names)
				return nil
			}),
		&e.SecretsVersion}
}
