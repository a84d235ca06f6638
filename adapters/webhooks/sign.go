package webhooks

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"strconv"
	"time"

	"causeway/core/platform"
)

// signatureHeaders are the values of the signature headers of a delivery.
type signatureHeaders struct {
	// service is Service-Webhook-Signature: ECDSA over the body only, so it is the same for every
	// attempt.
	service string
	// timestamp and standard are the headers of Standard Webhooks.
	timestamp, standard string
}

func (k *Keyring) sign(ctx context.Context, env platform.Environment, id string, at time.Time, body []byte) (signatureHeaders, error) {
	set, err := k.current(ctx, env)
	if err != nil {
		return signatureHeaders{}, err
	}
	// Without a source of randomness the signature is deterministic (RFC 6979).
	digest := sha256.Sum256(body)
	der, err := set.ecdsa.Sign(nil, digest[:], crypto.SHA256)
	if err != nil {
		return signatureHeaders{}, err
	}
	service := make([]byte, 0, 128)
	service = append(service, `{"v":"1","s":"`...)
	service = base64.StdEncoding.AppendEncode(service, der)
	service = append(service, `"}`...)

	timestamp := strconv.FormatInt(at.Unix(), 10)
	message := make([]byte, 0, len(id)+len(timestamp)+len(body)+2)
	message = append(append(message, id...), '.')
	message = append(append(message, timestamp...), '.')
	message = append(message, body...)
	standard := make([]byte, 0, 96)
	for _, key := range set.ed25519 {
		if !key.validUntil.IsZero() && !key.validUntil.After(at) {
			continue
		}
		if len(standard) > 0 {
			standard = append(standard, ' ')
		}
		standard = append(standard, "v1a,"...)
		standard = base64.StdEncoding.AppendEncode(standard, ed25519.Sign(key.private, message))
	}
	return signatureHeaders{service: string(service), timestamp: timestamp, standard: string(standard)}, nil
}
