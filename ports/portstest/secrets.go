package portstest

import (
	"context"
	"errors"

	"causeway/ports"
)

// Secrets are the secrets of a test, by reference.
type Secrets map[string]string

var _ ports.Secrets = Secrets{}

// Secret implements ports.Secrets.
func (s Secrets) Secret(_ context.Context, reference string) ([]byte, error) {
	secret, ok := s[reference]
	if !ok {
		return nil, errors.New(reference + " does not exist")
	}
	return []byte(secret), nil
}
