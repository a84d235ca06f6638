package agents

import (
	"context"
	"crypto/rand"

	"causeway/app/internal/batch"
	"causeway/core/agent"
	"causeway/core/diff"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// IssuedCode is a device code. Code is empty in the response that is stored for a repeated request.
type IssuedCode struct {
	agent.DeviceCode
	Code string
}

// IssueCode issues a device code of an agent to which no program is connected; older codes cannot be redeemed
// any more. The code is in the first response only: the response that is stored for a repeated request does
// not contain it. Faults: AGENT_NOT_FOUND; CONFLICT if a program is connected.
func (s *Service) IssueCode(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Agent) (IssuedCode, error) {
	code, hash, err := s.newCode(ctx)
	if err != nil {
		return IssuedCode{}, err
	}
	var issued IssuedCode
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		locked, err := tx.LockAgent(ctx, p, id)
		if err != nil {
			return err
		}
		if issued.DeviceCode, err = locked.IssueCode(hash, s.Clock.Now()); err != nil {
			return err
		}
		if err := tx.SaveResponse(ctx, request, issued, nil); err != nil {
			return err
		}
		return tx.ReplaceDeviceCode(ctx, issued.DeviceCode)
	})
	if err != nil {
		return IssuedCode{}, err
	}
	issued.Code = code
	if request != nil {
		request.Render(issued, nil) // the response to this request has the code
	}
	return issued, nil
}

// newCode returns a new code and its hash.
func (s *Service) newCode(ctx context.Context) (string, agent.DeviceCodeHash, error) {
	var random [5]byte
	_, _ = rand.Read(random[:]) // never fails
	code := agent.FormatDeviceCode(random)
	hash, err := s.Store.DeviceCodeHash(ctx, code)
	return code, hash, err
}

// CodeStatus returns a device code of the platform, also one that can no longer be redeemed, or
// DEVICE_CODE_NOT_FOUND.
func (s *Service) CodeStatus(ctx context.Context, p ident.Platform, text string) (IssuedCode, error) {
	code, found, err := s.findCode(ctx, text)
	if err == nil && found.Platform != p {
		err = agent.DeviceCodeNotFound()
	}
	if err != nil {
		return IssuedCode{}, err
	}
	return IssuedCode{found, code}, nil
}

// Paired is an agent to which a program was connected, and the access token of the program.
type Paired struct {
	Agent       agent.Agent
	AccessToken string
}

// Redeem connects a program to the agent of a device code. The access token is in this result only; nothing is
// stored from which it could be read. Faults: DEVICE_CODE_NOT_FOUND, DEVICE_CODE_ALREADY_REDEEMED,
// DEVICE_CODE_EXPIRED. The caller must limit how often codes are tried.
func (s *Service) Redeem(ctx context.Context, text string) (Paired, error) {
	_, found, err := s.findCode(ports.ForAllPlatforms(ctx), text) // the code says which platform it is of
	if err != nil {
		return Paired{}, err
	}
	var random [32]byte
	_, _ = rand.Read(random[:]) // never fails
	paired := Paired{AccessToken: agent.FormatToken(random)}
	err = ports.Do(ports.ForPlatform(ctx, found.Platform), s.Store, func(ctx context.Context, tx Tx) error {
		locked, err := tx.LockAgent(ctx, found.Platform, found.Agent)
		if fault.Is(err, fault.AgentNotFound) {
			return agent.DeviceCodeNotFound() // the agent was deleted meanwhile
		}
		if err != nil {
			return err
		}
		code, err := tx.LockDeviceCode(ctx, found.Platform, found.Hash)
		if err != nil {
			return err
		}
		connected, redeemed, err := locked.Redeem(code, agent.HashToken(paired.AccessToken), s.Clock.Now())
		if err != nil {
			return err
		}
		paired.Agent = connected
		if err := tx.UpdateAgent(ctx, connected); err != nil {
			return err
		}
		if err := s.record(ctx, tx, found.Platform, platform.AgentProgram, platform.ConnectedAgent, found.Agent, diff.Between(
			diff.Values{"isConnected": "false"}, diff.Values{"isConnected": "true"})); err != nil {
			return err
		}
		return tx.RedeemDeviceCode(ctx, redeemed)
	})
	if err != nil {
		return Paired{}, err
	}
	return paired, nil
}

// findCode returns a code as it was issued, and what is stored about it.
func (s *Service) findCode(ctx context.Context, text string) (string, agent.DeviceCode, error) {
	code, ok := agent.ParseDeviceCode(text)
	if !ok {
		return "", agent.DeviceCode{}, agent.DeviceCodeNotFound()
	}
	hash, err := s.Store.DeviceCodeHash(ctx, code)
	if err != nil {
		return "", agent.DeviceCode{}, err
	}
	found, err := s.Store.DeviceCode(ctx, hash)
	return code, found, err
}

// Authenticate returns the principal of an access token, with the permissions of the policy of its agent, or
// UNAUTHORIZED. Nothing is cached, so that the token of a deleted agent is refused at once; concurrent requests
// share one query. A paused agent is authenticated.
func (s *Service) Authenticate(ctx context.Context, token string) (platform.Principal, error) {
	if !agent.IsToken(token) {
		return platform.Principal{}, agent.InvalidToken()
	}
	hash := agent.HashToken(token)
	found, err := s.tokens.Do(ctx, ident.Platform{}, hash) // the platform is not known yet
	if err != nil {
		return platform.Principal{}, err
	}
	if found == nil || !found.Hash.Equal(hash) {
		return platform.Principal{}, agent.InvalidToken()
	}
	caller := platform.Principal{Platform: found.Platform, Environment: found.Environment, Agent: found.Agent, Customer: found.Customer}
	for _, permission := range found.Permissions {
		caller.Permissions = append(caller.Permissions, platform.Permission(permission))
	}
	return caller, nil
}

func newTokenReader(store Store) *batch.Batcher[agent.TokenHash, *ports.AgentToken] {
	return batch.New(batch.Options{MaxSize: 256, MaxConcurrency: 2},
		func(ctx context.Context, hashes []agent.TokenHash) ([]batch.Result[*ports.AgentToken], error) {
			found, err := store.AgentTokens(ports.ForAllPlatforms(ctx), hashes)
			if err != nil {
				return nil, err
			}
			results := make([]batch.Result[*ports.AgentToken], len(hashes))
			for i, hash := range hashes {
				if token, ok := found[hash]; ok {
					results[i].Value = &token
				}
			}
			return results, nil
		})
}
