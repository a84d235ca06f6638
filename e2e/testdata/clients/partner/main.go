// Command partner makes a payout at a sidecar with the client that oapi-codegen generates from the contract of partners.
package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"clients/partner/client"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	url, id, endToEndID, platform := os.Args[1], uuid.MustParse(os.Args[3]), os.Args[4], os.Args[5]
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Args[2], "whsec_"))
	check(err)
	api, err := client.NewClientWithResponses(url, client.WithRequestEditorFn(signer(key)))
	check(err)

	amount := client.Amount{Currency: "USD", Decimals: 2}
	check(amount.Minor.FromAmountMinor0("1000"))
	submitted, err := api.SubmitPayoutWithResponse(ctx, &client.SubmitPayoutParams{},
		client.Payment{Kind: "PAYOUT", Id: id, EndToEndId: endToEndID, PlatformId: platform, Amount: amount, Rail: "RTP"})
	check(err)
	if submitted.StatusCode() != http.StatusOK && submitted.StatusCode() != http.StatusCreated {
		log.Fatalf("payout: %s %s", submitted.Status(), submitted.Body)
	}
	for {
		got, err := api.GetPayoutWithResponse(ctx, id, &client.GetPayoutParams{})
		check(err)
		if got.JSON200 == nil {
			log.Fatalf("payout: %s", got.Body)
		}
		if got.JSON200.Status == "SETTLED" {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	limit := 10
	listed, err := api.ListEventsWithResponse(ctx, &client.ListEventsParams{Limit: &limit})
	check(err)
	if listed.JSON200 == nil {
		log.Fatalf("events: %s", listed.Body)
	}
	for _, e := range listed.JSON200.Events {
		if e.Payment != nil {
			fmt.Println(e.Payment.Id, e.Payment.Status)
		}
	}
}

// signer signs requests: their body, or without one their method and target.
func signer(key []byte) client.RequestEditorFn {
	return func(_ context.Context, r *http.Request) error {
		content := []byte(r.Method + " " + r.URL.RequestURI())
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return err
			}
			if content, err = io.ReadAll(body); err != nil {
				return err
			}
		}
		id, at := "msg_"+uuid.NewString(), strconv.FormatInt(time.Now().Unix(), 10)
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + at + "."))
		mac.Write(content)
		r.Header.Set("webhook-id", id)
		r.Header.Set("webhook-timestamp", at)
		r.Header.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
		return nil
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
