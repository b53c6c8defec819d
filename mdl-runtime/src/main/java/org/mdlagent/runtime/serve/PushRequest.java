package org.mdlagent.runtime.serve;

import java.io.IOException;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;

/// An HTTP request that pushes figures to a server. Redirections are not followed, because it may carry
/// credentials.
final class PushRequest implements AutoCloseable {
    static final int TIMEOUT_MILLIS = 10_000;

    private final HttpURLConnection connection;

    PushRequest(URI address) throws IOException {
        connection = (HttpURLConnection) address.toURL().openConnection();
        connection.setConnectTimeout(TIMEOUT_MILLIS);
        connection.setReadTimeout(TIMEOUT_MILLIS);
        connection.setInstanceFollowRedirects(false);
        connection.setRequestMethod("POST");
        connection.setDoOutput(true);
    }

    void header(String name, String value) {
        connection.setRequestProperty(name, value);
    }

    /// Sends the request; the answer is read from the result.
    HttpURLConnection send(byte[] content) throws IOException {
        try (OutputStream out = connection.getOutputStream()) {
            out.write(content);
        }
        return connection;
    }

    @Override
    public void close() {
        connection.disconnect();
    }
}
