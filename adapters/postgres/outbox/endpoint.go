package outbox

import (
	"github.com/jackc/pgx/v5/pgtype"

	"causeway/core/platform"
	"causeway/ports"
)

// endpointColumns are the columns of platforms, as p, that an endpointRow is read from.
const endpointColumns = `p.id, p.webhook_endpoint, p.environment, p.webhook_signatures, p.webhook_secrets_version`

// endpointRow is the endpoint of a platform as it is stored.
type endpointRow struct {
	id               pgtype.UUID
	url, environment string
	signatures       []string
	secretsVersion   int64
}

// targets returns what to scan endpointColumns into.
func (r *endpointRow) targets() []any {
	return []any{&r.id, &r.url, &r.environment, &r.signatures, &r.secretsVersion}
}

func (r *endpointRow) endpoint() ports.Endpoint {
	signatures, _ := platform.ParseWebhookSignatures(r.signatures)
	return ports.Endpoint{
		Platform: platformID(r.id), URL: r.url, Environment: platform.Environment(r.environment),
		Signatures: signatures, SecretsVersion: r.secretsVersion,
	}
}
