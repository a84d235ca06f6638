package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// pairTool is the only tool until the program is paired. It is no operation of an agent.
var pairTool = tool{
	name: "pair", title: "Pair with an agent", starts: true,
	description: "Pairs this program with an agent of the platform, once. Ask the person for the device code that the platform showed, such " +
		"as AGENT-K7QF-M2XP; never guess one. " +
		"Afterwards the tools of the agent are listed.",
	arguments: []field{{name: "code", kind: text, required: true, maxLength: 40, description: "The device code, as the person gave it. " +
		"Upper and lower case and hyphens do not matter."}},
}

// pairing redeems device codes and keeps the access tokens.
type pairing struct {
	client *Client
	store  *TokenStore
	mu     sync.Mutex // one at a time: a code can be redeemed once
}

// Pair redeems a device code and keeps the access token. It returns the id of the agent.
func Pair(ctx context.Context, client *Client, store *TokenStore, code string) (agent string, err error) {
	p := pairing{client: client, store: store}
	_, agent, refused, err := p.redeem(ctx, code)
	if refused != nil && refused.isElsewhere() {
		return "", errNotTheService
	}
	if refused != nil {
		var message struct{ Message string }
		_ = json.Unmarshal(refused.body, &message) // without one, the code says it
		return "", fmt.Errorf("the device code was refused (%d %s): %s", refused.status, safeCode(refused.failure().Code),
			escapeInvisible(message.Message))
	}
	return agent, err
}

// redeem redeems a code. If the service refuses it, redeem returns the response; an error is everything else.
func (p *pairing) redeem(ctx context.Context, code string) (token Token, agent string, refused *response, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A token that cannot be kept is lost, because the code is used up.
	if err := p.store.prepare(); err != nil {
		return Token{}, "", nil, fmt.Errorf("the access token could not be kept, so the code was not redeemed: %w", err)
	}
	got, err := p.client.do(ctx, Token{}, request{method: http.MethodPost, path: "/agents/device-codes/" + url.PathEscape(code) + "/redeem"})
	if err != nil {
		return Token{}, "", nil, fmt.Errorf("the service did not answer: %w", err)
	}
	if !got.ok() {
		return Token{}, "", &got, nil
	}
	var paired struct{ AgentID, AccessToken string }
	if json.Unmarshal(got.body, &paired) != nil {
		return Token{}, "", nil, errors.New("the response has no access token")
	}
	if token, err = NewToken(paired.AccessToken); err != nil {
		return Token{}, "", nil, errors.New("the response has no access token")
	}
	agent = safeID(paired.AgentID)
	return token, agent, nil, p.store.Save(p.client.base, token)
}

// pair is the tool pair.
func (s *server) pair(ctx context.Context, raw json.RawMessage) *sdk.CallToolResult {
	s.mu.Lock()
	unpaired := s.unpaired()
	s.mu.Unlock()
	if !unpaired {
		return failed("This program is paired already. Call get_agent.", nil)
	}
	arguments, problems := parseArguments(raw, pairTool.arguments)
	if len(problems) > 0 {
		return failed("The code was not redeemed: "+escapeInvisible(problems[0]), nil)
	}
	code, _ := arguments["code"].(string)
	token, agent, refused, err := s.pairing.redeem(ctx, code)
	if refused != nil {
		return failed(fmt.Sprintf("The code was refused (%d %s). %s", refused.status, safeCode(refused.failure().Code), codeAdvice(refused)),
			refused.body)
	}
	if token.IsZero() {
		return failed(escapeInvisible(err.Error())+". Tell the person.", nil)
	}
	s.mu.Lock()
	s.token, s.refused, s.agent = token, false, nil
	s.mu.Unlock()
	words := "Paired with " + agent + "."
	if err != nil {
		s.Log.Error("the access token could not be kept", "error", err.Error())
		words += " The access token could not be kept, so this lasts until this program ends: tell the person."
	}
	if _, failure := s.refresh(ctx, nil); failure != nil {
		s.offer()
		return result(words+" Call get_agent to see what you may do.", nil)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return result(words+" The tools have changed; list them again. "+s.agent.words(), nil)
}

// codeAdvice says what to do about a refused code.
func codeAdvice(refused *response) string {
	switch refused.failure().Code {
	case "DEVICE_CODE_NOT_FOUND":
		return "Ask the person to check the code."
	case "DEVICE_CODE_EXPIRED":
		return "Ask the person for a new code of the platform."
	case "DEVICE_CODE_ALREADY_REDEEMED":
		return "Another program is paired with this agent, or the answer to an earlier attempt was lost. Ask the person for the code of a new " +
			"agent."
	}
	if refused.isElsewhere() {
		return wrongURLWords
	}
	if refused.status == http.StatusTooManyRequests {
		return "Too many codes were tried. Wait " + seconds(refused.retryAfter) + "."
	}
	return "Tell the person."
}
