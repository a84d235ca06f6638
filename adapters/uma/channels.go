package uma

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/uma"
)

// callback is a post-transaction callback: what a provider reports of the channels of a payment.
type callback struct {
	UTXOs     []utxo `json:"utxos"`
	Domain    string `json:"vaspDomain"`
	Signature string `json:"signature"`
	Nonce     string `json:"signatureNonce"`
	Timestamp int64  `json:"signatureTimestamp"`
}

type utxo struct {
	Outpoint      string `json:"utxo"`
	MilliSatoshis int64  `json:"amountMsats"`
}

// callbackURL is where the other provider of a payment reports its channels. The callback itself does not say which payment it is about.
func callbackURL(on platform.Platform, id ident.Transaction) string {
	return "https://" + on.UMADomain + utxoPath + id.UUID().String()
}

// knownCallback returns the callback of another provider, or nothing if no request is sent there.
func knownCallback(target string) string {
	if checkURL(target) != nil {
		return ""
	}
	return target
}

const callbackTimeout = 8 * time.Second

// ReportChannels implements ports.Counterparties.
func (p *Provider) ReportChannels(ctx context.Context, on platform.Platform, target string, channels []uma.ChannelUse) error {
	signed, err := p.sign(ctx, on.ID)
	if err != nil {
		return err
	}
	message := callback{UTXOs: []utxo{}, Domain: on.UMADomain, Signature: signed.text, Nonce: signed.Nonce, Timestamp: signed.Seconds}
	for _, c := range channels {
		message.UTXOs = append(message.UTXOs, utxo(c))
	}
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	answer, err := p.Client.post(ctx, target, body, callbackTimeout)
	if err == nil && (answer.status < 200 || answer.status > 299) {
		err = fmt.Errorf("the answer has the status %d", answer.status)
	}
	return err
}

// channels takes what the other provider of a payment reports.
func (s *Server) channels(ctx context.Context, r *http.Request, on platform.Platform) (any, error) {
	body, err := readBody(r)
	if err != nil {
		return nil, err
	}
	var message callback
	if err := json.Unmarshal(body, &message); err != nil {
		return nil, uma.Refuse(uma.InvalidInput, "the body must be a post-transaction callback of UMA 1.0")
	}
	name, err := pathName(r, utxoPath)
	if err != nil {
		return nil, err
	}
	parsed, err := uuid.Parse(name)
	if err != nil {
		return nil, uma.Refuse(uma.InvalidInput, "the path must end in the id of a payment")
	}
	domain, err := s.counterparty(on, message.Domain)
	if err != nil {
		return nil, err
	}
	signed := signature{uma.Stamp{Nonce: message.Nonce, Seconds: message.Timestamp}, message.Signature}
	if _, err := s.verify(ctx, on.ID, domain, signed); err != nil {
		return nil, err
	}
	channels := make([]uma.ChannelUse, len(message.UTXOs))
	for i, u := range message.UTXOs {
		channels[i] = uma.ChannelUse(u)
	}
	var id ident.Transaction
	id.SetUUID(parsed)
	return map[string]string{"status": "OK"}, s.Payments.TakeUMAChannels(ctx, on, id, domain, channels)
}
