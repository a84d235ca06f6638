package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// verificationKeys are the public keys that deliveries may be signed with.
type verificationKeys struct {
	ecdsa   []*ecdsa.PublicKey
	ed25519 []ed25519.PublicKey
}

// addFrom takes every public key in PEM that a JSON document holds.
func (k *verificationKeys) addFrom(document any) error {
	switch value := document.(type) {
	case string:
		return k.addPEM(value)
	case []any:
		for _, inner := range value {
			if err := k.addFrom(inner); err != nil {
				return err
			}
		}
	case map[string]any:
		for _, inner := range value {
			if err := k.addFrom(inner); err != nil {
				return err
			}
		}
	}
	return nil
}

func (k *verificationKeys) addPEM(text string) error {
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		return nil
	}
	key, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return err
	}
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		k.ecdsa = append(k.ecdsa, key)
	case ed25519.PublicKey:
		k.ed25519 = append(k.ed25519, key)
	}
	return nil
}

// verify checks both signatures of a delivery.
func (k verificationKeys) verify(d delivery) error {
	return errors.Join(k.verifyECDSA(d), k.verifyStandardWebhook(d))
}

// verifyECDSA checks Service-Webhook-Signature: ECDSA over the body.
func (k verificationKeys) verifyECDSA(d delivery) error {
	value, _ := headerValue(d.head, "Service-Webhook-Signature")
	var sent struct{ V, S string }
	if err := json.Unmarshal(value, &sent); err != nil || sent.V != "1" {
		return fmt.Errorf("Service-Webhook-Signature is %q", value)
	}
	signature, err := base64.StdEncoding.DecodeString(sent.S)
	if err != nil {
		return err
	}
	sum := sha256.Sum256(d.body)
	for _, key := range k.ecdsa {
		if ecdsa.VerifyASN1(key, sum[:], signature) {
			return nil
		}
	}
	return fmt.Errorf("no ECDSA key verifies %.80s", d.body)
}

// verifyStandardWebhook checks webhook-signature: Ed25519 over id, time and body.
func (k verificationKeys) verifyStandardWebhook(d delivery) error {
	id, _ := headerValue(d.head, "webhook-id")
	at, _ := headerValue(d.head, "webhook-timestamp")
	signatures, _ := headerValue(d.head, "webhook-signature")
	signed := bytes.Join([][]byte{id, at, d.body}, []byte("."))
	for one := range strings.FieldsSeq(string(signatures)) {
		encoded, ok := strings.CutPrefix(one, "v1a,")
		signature, err := base64.StdEncoding.DecodeString(encoded)
		if !ok || err != nil || len(signature) != ed25519.SignatureSize {
			continue
		}
		for _, key := range k.ed25519 {
			if ed25519.Verify(key, signed, signature) {
				return nil
			}
		}
	}
	return fmt.Errorf("no Ed25519 key verifies %.80s", d.body)
}
