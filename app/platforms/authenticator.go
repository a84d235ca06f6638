package platforms

import (
	"context"

	"causeway/app/internal/batch"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/ports"
)

// Authenticator knows who a client id and secret belong to. Every request is looked
// up anew, so that a deleted token is of no use at the next one; those that come at
// the same time share one look-up.
type Authenticator struct {
	tokens *batch.Batcher[string, *ports.TokenWithEnvironment]
}

// TokenReader is where tokens are found.
type TokenReader interface {
	TokensByClientID(ctx context.Context, clientIDs []string) (map[string]ports.TokenWithEnvironment, error)
}

// NewAuthenticator returns an authenticator that reads from tokens.
func NewAuthenticator(tokens TokenReader) *Authenticator {
	return &Authenticator{batch.New(batch.Options{MaxSize: 256, MaxConcurrency: 2}, func(ctx context.Context, clientIDs []string) ([]batch.Result[*ports.TokenWithEnvironment], error) {
		found, err := tokens.TokensByClientID(ctx, deduplicate(clientIDs))
		if err != nil {
			return nil, err
		}
		results := make([]batch.Result[*ports.TokenWithEnvironment], len(clientIDs))
		for i, clientID := range clientIDs {
			if token, ok := found[clientID]; ok {
				results[i].Value = &token
			}
		}
		return results, nil
	})}
}

// Authenticate says who is asking, or UNAUTHORIZED. An unknown client id takes as
// long as a wrong secret, and is answered in the same words.
func (a *Authenticator) Authenticate(ctx context.Context, clientID, secret string) (platform.Principal, error) {
	found, err := a.tokens.Do(ctx, clientID)
	if err != nil {
		return platform.Principal{}, err
	}
	token, known := platform.Token{}, found != nil
	if known {
		token = found.Token
	}
	if opens := token.MatchesSecret(secret); !opens || !known {
		return platform.Principal{}, &fault.Error{
			Code:    fault.Unauthorized,
			Message: "The client id and secret do not belong together, or the token was deleted. Check both, or create a new token.",
			Reason:  "Invalid credentials",
		}
	}
	return platform.Principal{
		Platform: token.Platform, Environment: found.Environment, Token: token.ID, Permissions: token.Permissions,
	}, nil
}

// deduplicate returns the texts without repetitions. Most of a busy group is one token.
func deduplicate(texts []string) []string {
	if len(texts) == 1 {
		return texts
	}
	seen := make(map[string]struct{}, 4)
	once := make([]string, 0, 4)
	for _, text := range texts {
		if _, ok := seen[text]; !ok {
			seen[text] = struct{}{}
			once = append(once, text)
		}
	}
	return once
}
