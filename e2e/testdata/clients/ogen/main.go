// Command ogen makes a payment of a platform and one of an agent with the client that ogen generates.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"clients/ogen/client"
)

// credentials are those of a platform and of an agent. Each operation takes one of them.
type credentials struct {
	platform client.BasicAuth
	agent    client.AgentAuth
}

func (c credentials) BasicAuth(context.Context, client.OperationName) (client.BasicAuth, error) {
	return c.platform, nil
}

func (c credentials) AgentAuth(context.Context, client.OperationName) (client.AgentAuth, error) {
	return c.agent, nil
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	url, clientID, secret, from, to, bank, accessToken := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6], os.Args[7]
	api, err := client.NewClient(url, credentials{client.BasicAuth{Username: clientID, Password: secret},
		client.AgentAuth{Token: accessToken}})
	check(err)

	made, err := api.AgentCreateTransferOut(ctx, &client.TransferOutRequest{
		Source: client.InternalAccountReference{AccountId: from}, Destination: client.TransferOutDestination{AccountId: bank}, Amount: 1000,
	}, client.AgentCreateTransferOutParams{})
	check(err)
	action, ok := made.(*client.AgentAction)
	if !ok {
		log.Fatalf("transfer: %+v", made)
	}
	fmt.Println(action.ID, action.Status)

	created, err := api.CreateQuote(ctx, &client.QuoteRequest{
		Source: client.QuoteSource{OneOf: client.NewAccountQuoteSourceQuoteSourceSum(client.AccountQuoteSource{AccountId: from})},
		Destination: client.QuoteDestination{OneOf: client.NewAccountDestinationQuoteDestinationSum(
			client.AccountDestination{AccountId: to})},
		LockedCurrencySide: client.QuoteRequestLockedCurrencySideSENDING, LockedCurrencyAmount: 2500,
	}, client.CreateQuoteParams{})
	check(err)
	quote, ok := created.(*client.CreateQuoteCreated)
	if !ok {
		log.Fatalf("quote: %+v", created)
	}
	if destination, ok := quote.Destination.OneOf.GetAccountPaymentDestination(); !ok || destination.AccountId != to {
		log.Fatalf("quote to %+v", quote.Destination)
	}

	executed, err := api.ExecuteQuote(ctx, client.OptQuoteExecutionRequest{}, client.ExecuteQuoteParams{QuoteId: quote.ID})
	check(err)
	if _, ok := executed.(*client.Quote); !ok {
		log.Fatalf("execute: %+v", executed)
	}
	for {
		got, err := api.GetTransactionById(ctx, client.GetTransactionByIdParams{TransactionId: quote.TransactionId})
		check(err)
		transaction, ok := got.(*client.Transaction)
		if !ok {
			log.Fatalf("transaction: %+v", got)
		}
		if transaction.Status == client.TransactionStatusCOMPLETED || transaction.Status == client.TransactionStatusFAILED {
			fmt.Println(transaction.ID, transaction.Status)
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
