package main

import (
	"encoding/json"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"causeway/adapters/ids"
	"causeway/adapters/pgembed/pgtest"
	"causeway/adapters/postgres"
	"causeway/app/internal/foureyes"
	"causeway/ports/portstest"
)

func TestProposals_EachVersionOfRequestIsRead(t *testing.T) {
	t.Parallel()
	// The stored request of every operation that may need four eyes is read by every later version of the service, with no
	// unknown field, which would refuse its approval.
	db := openDB(t, postgres.Options{URL: pgtest.New(t), AllPlatforms: true, MaxConnections: 2, Clock: systemClock{},
		TxOf: newTx})
	for _, executor := range (services{db: db, ids: ids.New()}).Proposals().Executors {
		t.Run(executor.Operation(), func(t *testing.T) {
			t.Parallel()
			portstest.CheckDocument(t, filepath.Join("testdata", "requests"), executor.Operation(), requestOf(executor))
		})
	}
}

// requestOf is the request of the operation of an executor, whose type only that knows.
func requestOf(e foureyes.Executor) portstest.Document {
	kind := reflect.ValueOf(e).FieldByName("operation").FieldByName("Execute").Type().In(3)
	encode := func(request reflect.Value) (string, error) {
		text, err := foureyes.FormatRequest(e.Operation(), request.Elem().Interface())
		return string(text), err
	}
	return portstest.Document{
		Encode: func() (string, error) {
			request := reflect.New(kind)
			portstest.Fill(request.Interface(), "request")
			return encode(request)
		},
		Recode: func(text string) (string, error) {
			request := reflect.New(kind)
			decoder := json.NewDecoder(strings.NewReader(text))
			decoder.DisallowUnknownFields()
			if err := decoder.Decode(request.Interface()); err != nil {
				return "", err
			}
			return encode(request)
		},
	}
}
