package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/jackc/pgx/VERSION"
)

func main() {
	ctx := context.Background()
	connection, err := pgx.Connect(ctx, "")
	var customers []string
	for i := 0; i < 1000; i++ {
		customers = append(customers, strconv.Itoa(i))
	}
	@pgx-batch@

	from := time.Date(2025, 11, 20, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(0, 0, 1)
	@pgx-range@
	rows := 0
	for orders.Next() {
		rows++
	}
	fmt.Println("range", rows)

	err = connection.QueryRow(ctx, "SELECT count(*) FROM orders WHERE id >= $1", from).Scan(&rows)
	if err != nil {
		fmt.Println("untyped fails:", err)
	}
}
