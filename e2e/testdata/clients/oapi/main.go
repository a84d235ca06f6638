// Command oapi makes a payment of a platform and one of an agent with the client that oapi-codegen generates.
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
	url, clientID, secret, from, to, bank, accessToken := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6], os.Args[7]
	transfer(ctx, url, accessToken, from, bank)
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

	executed, err := api.ExecuteQuoteWithResponse(ctx, quote.Id, &client.ExecuteQuoteParams{}, client.ExecuteQuoteJSONRequestBody{})
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

// transfer makes a payment with the access token of an agent.
func transfer(ctx context.Context, url, accessToken, from, to string) {
	api, err := client.NewClientWithResponses(url, client.WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		r.Header.Set("Authorization", "Bearer "+accessToken)
		return nil
	}))
	check(err)
	made, err := api.AgentCreateTransferOutWithResponse(ctx, &client.AgentCreateTransferOutParams{}, client.TransferOutRequest{
		Source: client.InternalAccountReference{AccountId: from}, Destination: client.TransferOutDestination{AccountId: to}, Amount: 1000})
	check(err)
	if made.JSON201 == nil {
		log.Fatalf("transfer: %s", made.Body)
	}
	fmt.Println(made.JSON201.Id, made.JSON201.Status)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
