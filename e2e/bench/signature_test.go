package main

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestVerificationKeys_Verify(t *testing.T) {
	// A delivery is good when both of its signatures are; changing any signed part, or
	// having the wrong keys, is found out.
	t.Parallel()
	service := newFakeService(t)
	var k verificationKeys
	var document any
	if err := json.Unmarshal([]byte(service.publicKeys()), &document); err != nil {
		t.Fatal(err)
	}
	if err := k.addFrom(document); err != nil || len(k.ecdsa) != 1 || len(k.ed25519) != 1 {
		t.Fatalf("keys %+v, %v", k, err)
	}
	good := service.sign([]byte(`{"webhookId":"Webhook:1","event":"TEST"}`))

	if err := k.verify(good); err != nil {
		t.Error(err)
	}

	replaced := func(old, by string) delivery {
		return delivery{bytes.Replace(good.head, []byte(old), []byte(by), 1), good.body}
	}
	for name, d := range map[string]delivery{
		"body changed":      {good.head, []byte(`{"webhookId":"Webhook:1","event":"TESt"}`)},
		"no signature":      {[]byte("POST / HTTP/1.1"), good.body},
		"id changed":        replaced("Webhook-Id: Webhook:1", "Webhook-Id: Webhook:2"),
		"time changed":      replaced("1767323045", "1767323046"),
		"version changed":   replaced(`"v":"1"`, `"v":"2"`),
		"algorithm changed": {bytes.ReplaceAll(good.head, []byte("v1a,"), []byte("v1,")), good.body},
		"signed by another": newFakeService(t).sign(good.body),
	} {
		if k.verify(d) == nil {
			t.Errorf("%s: verified", name)
		}
	}
}

func TestVerificationKeys_AddFrom(t *testing.T) {
	// Keys are found wherever they stand in a document; a damaged one is an error.
	t.Parallel()
	var k verificationKeys
	if err := k.addFrom(map[string]any{"a": []any{"no key", 1.5, nil}}); err != nil || len(k.ecdsa)+len(k.ed25519) != 0 {
		t.Errorf("found %+v, %v", k, err)
	}
	if err := k.addFrom("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"); err == nil {
		t.Error("a damaged key is taken")
	}
}
