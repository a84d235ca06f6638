package webhooks

import (
	"context"
	"crypto"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"time"

	"causeway/core/event"
	"causeway/ports"
)

// signatureHeaders are the values of the signature headers of a delivery. One that is empty is not
// sent.
type signatureHeaders struct {
	// service is Service-Webhook-Signature: ECDSA over the body only, so it is the same for every
	// attempt.
	service string
	signed  bodySignature // what service signs
	// timestamp and standard are the headers of Standard Webhooks. Its verifiers refuse an old
	// timestamp, so both are made for each attempt.
	timestamp, standard string
}

// header returns the headers of a delivery of the event with the id. Those of Standard Webhooks are written as its
// specification does.
func (s signatureHeaders) header(id string) http.Header {
	header := http.Header{"Content-Type": contentType, "webhook-id": {id}, "webhook-timestamp": {s.timestamp}}
	if s.service != "" {
		header["Service-Webhook-Signature"] = []string{s.service}
	}
	if s.standard != "" {
		header["webhook-signature"] = []string{s.standard}
	}
	return header
}

// Headers implements ports.WebhookKeys.
func (k *Keyring) Headers(ctx context.Context, d ports.WebhookDelivery) (http.Header, error) {
	signed, err := k.sign(ctx, d.Endpoint, d.ID.String(), d.At, d.Body)
	if err != nil {
		return nil, err
	}
	return signed.header(d.ID.String()), nil
}

// sign makes the signatures that the platform uses, and only those: HMAC takes about two
// microseconds, each of the others ten times as long or more.
func (k *Keyring) sign(ctx context.Context, e ports.Endpoint, id string, at time.Time, body []byte) (signatureHeaders, error) {
	secrets, err := k.secrets(ctx, e, at)
	if err != nil {
		return signatureHeaders{}, err
	}
	headers := signatureHeaders{timestamp: strconv.FormatInt(at.Unix(), 10)}
	var standard []byte
	if len(secrets) > 0 {
		standard = appendHMAC(standard, secrets, signedContent(id, headers.timestamp, body))
	}
	ecdsa := e.Signatures.ECDSA || len(secrets) == 0 && !e.Signatures.Ed25519 // a delivery is never unsigned
	if ecdsa || e.Signatures.Ed25519 {
		set, err := k.current(ctx, e.Environment)
		if err != nil {
			return signatureHeaders{}, err
		}
		if e.Signatures.Ed25519 {
			standard = set.appendEd25519(standard, at, signedContent(id, headers.timestamp, body))
		}
		if ecdsa {
			if headers.service, headers.signed, err = k.signBody(set, body); err != nil {
				return signatureHeaders{}, err
			}
		}
	}
	headers.standard = string(standard)
	return headers, nil
}

// signedContent returns what the signatures of Standard Webhooks sign.
func signedContent(id, timestamp string, body []byte) []byte {
	content := make([]byte, 0, len(id)+len(timestamp)+len(body)+2)
	content = append(append(content, id...), '.')
	content = append(append(content, timestamp...), '.')
	return append(content, body...)
}

// appendHMAC appends a signature v1 by each secret.
func appendHMAC(header []byte, secrets [][]byte, content []byte) []byte {
	for _, secret := range secrets {
		mac := hmac.New(sha256.New, secret)
		mac.Write(content)
		header = appendSignature(header, "v1,", mac.Sum(nil))
	}
	return header
}

// appendEd25519 appends a signature v1a by each key that is valid.
func (s *keySet) appendEd25519(header []byte, at time.Time, content []byte) []byte {
	for _, key := range s.ed25519 {
		if key.validUntil.IsZero() || key.validUntil.After(at) {
			header = appendSignature(header, "v1a,", ed25519.Sign(key.private, content))
		}
	}
	return header
}

func appendSignature(header []byte, version string, signature []byte) []byte {
	if len(header) > 0 {
		header = append(header, ' ')
	}
	return base64.StdEncoding.AppendEncode(append(header, version...), signature)
}

// signBody returns the value of Service-Webhook-Signature, and what it signs.
func (k *Keyring) signBody(set *keySet, body []byte) (string, bodySignature, error) {
	signed := bodySignature{set.ecdsaID, sha256.Sum256(body)}
	if value := k.bodySignatures.get(signed); value != "" {
		return value, signed, nil
	}
	// Without a source of randomness the signature is deterministic (RFC 6979).
	der, err := set.ecdsa.Sign(nil, signed.digest[:], crypto.SHA256)
	if err != nil {
		return "", signed, err
	}
	value := append(make([]byte, 0, 128), `{"v":"1","s":"`...)
	value = base64.StdEncoding.AppendEncode(value, der)
	return string(append(value, `"}`...)), signed, nil
}

// finish is called after an attempt. It keeps the signature of the body if there may be another one.
func (k *Keyring) finish(headers signatureHeaders, outcome event.Outcome) {
	switch {
	case headers.service == "":
	case outcome.Delivered():
		k.bodySignatures.remove(headers.signed)
	default:
		k.bodySignatures.put(headers.signed, headers.service)
	}
}
