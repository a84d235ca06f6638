package platforms

import (
	"context"
	"sync"
	"time"

	"causeway/app/internal/batch"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Authenticator authenticates requests by client id and secret. It keeps a token that it has read for platform.TokenKept, as long as
// a deletion waits before it is confirmed, so that a deleted token is refused from then on. Concurrent requests share one query.
type Authenticator struct {
	tokens *batch.Batcher[string, *ports.TokenWithEnvironment]

	mu   sync.Mutex
	kept map[string]keptToken // by client id
}

// keptToken is a token that was read.
type keptToken struct {
	*ports.TokenWithEnvironment
	until time.Time
}

// maxKeptTokens bounds the memory of the tokens that are kept.
const maxKeptTokens = 4096

// TokenReader reads tokens.
type TokenReader interface {
	TokensByClientID(ctx context.Context, clientIDs []string) (map[string]ports.TokenWithEnvironment, error)
}

// NewAuthenticator returns an Authenticator that reads from tokens.
func NewAuthenticator(tokens TokenReader) *Authenticator {
	a := &Authenticator{kept: map[string]keptToken{}}
	a.tokens = batch.New(batch.Options{MaxSize: 256, MaxConcurrency: 2},
		func(ctx context.Context, clientIDs []string) ([]batch.Result[*ports.TokenWithEnvironment], error) {
			until := time.Now().Add(platform.TokenKept) // counted from before the read, which may miss what is deleted during it
			found, err := tokens.TokensByClientID(ports.ForAllPlatforms(ctx), deduplicate(clientIDs))
			if err != nil {
				return nil, err
			}
			results := make([]batch.Result[*ports.TokenWithEnvironment], len(clientIDs))
			for i, clientID := range clientIDs {
				if token, ok := found[clientID]; ok {
					results[i].Value = &token
					a.keep(keptToken{&token, until})
				}
			}
			return results, nil
		})
	return a
}

func (a *Authenticator) keep(t keptToken) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.kept) >= maxKeptTokens {
		clear(a.kept)
	}
	a.kept[t.Token.ClientID] = t
}

// find returns the token with a client id, or nil if there is none.
func (a *Authenticator) find(ctx context.Context, clientID string) (*ports.TokenWithEnvironment, error) {
	a.mu.Lock()
	kept := a.kept[clientID]
	a.mu.Unlock()
	if time.Now().Before(kept.until) {
		return kept.TokenWithEnvironment, nil
	}
	return a.tokens.Do(ctx, ident.Platform{}, clientID) // the platform is not known yet
}

// Authenticate returns the principal of a client id and secret, or UNAUTHORIZED: for a wrong secret in a platform.RefusedError. The
// response to an unknown client id and to a wrong secret are the same and take the same
// time.
func (a *Authenticator) Authenticate(ctx context.Context, clientID, secret string) (platform.Principal, error) {
	found, err := a.find(ctx, clientID)
	if err != nil {
		return platform.Principal{}, err
	}
	token, known := platform.Token{}, found != nil
	if known {
		token = found.Token
	}
	if matches := token.MatchesSecret(secret); !matches || !known {
		refused := &fault.Error{
			Code:    fault.Unauthorized,
			Message: "The client id or the secret is wrong, or the token was deleted. Check both, or create a new token.",
			Reason:  "Invalid credentials",
		}
		if !known {
			return platform.Principal{}, refused
		}
		return platform.Principal{}, &platform.RefusedError{Err: refused,
			Principal: platform.Principal{Platform: token.Platform, Environment: found.Environment, Token: token.ID,
				Person: token.Person}}
	}
	return platform.Principal{
		Platform: token.Platform, Environment: found.Environment, Token: token.ID, Person: token.Person, Permissions: token.Permissions,
	}, nil
}

// deduplicate returns the texts without repetitions. Most concurrent requests have the
// same token.
func deduplicate(texts []string) []string {
	if len(texts) == 1 {
		return texts
	}
	seen := make(map[string]struct{}, 4)
	distinct := make([]string, 0, 4)
	for _, text := range texts {
		if _, ok := seen[text]; !ok {
			seen[text] = struct{}{}
			distinct = append(distinct, text)
		}
	}
	return distinct
}
