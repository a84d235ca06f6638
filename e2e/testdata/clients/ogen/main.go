// Command ogen makes one payment with the client that ogen generates.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/ogen-go/ogen/ogenerrors"

	"clients/ogen/client"
)

type credentials client.BasicAuth

func (c credentials) BasicAuth(context.Context, client.OperationName) (client.BasicAuth, error) {
	return client.BasicAuth(c), nil
}

// AgentAuth is not used: the program is no agent.
func (credentials) AgentAuth(context.Context, client.OperationName) (client.AgentAuth, error) {
	return client.AgentAuth{}, ogenerrors.ErrSkipClientSecurity
}

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	url, clientID, secret, from, to := os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5]
	api, err := client.NewClient(url, credentials{Username: clientID, Password: secret})
	check(err)

	created, err := api.CreateQuote(ctx, &client.QuoteRequest{
		Source:             client.QuoteSource{OneOf: client.NewAccountQuoteSourceQuoteSourceSum(client.AccountQuoteSource{AccountId: from})},
		Destination:        client.QuoteDestination{OneOf: client.NewAccountDestinationQuoteDestinationSum(client.AccountDestination{AccountId: to})},
		LockedCurrencySide: client.QuoteRequestLockedCurrencySideSENDING, LockedCurrencyAmount: 2500,
	}, client.CreateQuoteParams{})
	check(err)
	quote, ok := created.(*client.Quote)
	if !ok {
		log.Fatalf("quote: %+v", created)
	}
	if destination, ok := quote.Destination.OneOf.GetAccountPaymentDestination(); !ok || destination.AccountId != to {
		log.Fatalf("quote to %+v", quote.Destination)
	}

	executed, err := api.ExecuteQuote(ctx, client.ExecuteQuoteParams{QuoteId: quote.ID})
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
