// Command oapi makes one payment with the client that oapi-codegen generates.
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"time"

	"clients/oapi/client"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	url, clientID, secret, from, to := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	api, err := client.NewClientWithResponses(url, client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.SetBasicAuth(clientID, secret)
		return nil
	}))
	check(err)

	request := client.QuoteRequest{LockedCurrencySide: "SENDING", LockedCurrencyAmount: 2500}
	check(request.Source.FromAccountQuoteSource(client.AccountQuoteSource{AccountId: from}))
	check(request.Destination.FromAccountDestination(client.AccountDestination{AccountId: to}))
	created, err := api.CreateQuoteWithResponse(ctx, &client.CreateQuoteParams{}, request)
	check(err)
	if created.JSON201 == nil {
		log.Fatalf("quote: %s", created.Body)
	}
	quote := created.JSON201
	destination, err := quote.Destination.AsAccountPaymentDestination()
	check(err)
	if destination.AccountId != to {
		log.Fatalf("quote to %+v", destination)
	}

	executed, err := api.ExecuteQuoteWithResponse(ctx, quote.Id, &client.ExecuteQuoteParams{})
	check(err)
	if executed.JSON200 == nil {
		log.Fatalf("execute: %s", executed.Body)
	}
	for {
		got, err := api.GetTransactionByIdWithResponse(ctx, quote.TransactionId)
		check(err)
		if got.JSON200 == nil {
			log.Fatalf("transaction: %s", got.Body)
		}
		if status := got.JSON200.Status; status == "COMPLETED" || status == "FAILED" {
			fmt.Println(got.JSON200.Id, status)
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
