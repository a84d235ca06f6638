package ports

import "context"

// Secrets reads passwords and keys by reference. They are in files and in the environment, and never in the database.
type Secrets interface {
	// Secret returns the secret with a reference: "file:/path" or "env:NAME". Its errors name the reference and
	// never the secret.
	Secret(ctx context.Context, reference string) ([]byte, error)
}
